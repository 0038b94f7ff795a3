-- Return the held chunks of a batch, soonest first: the current time in ms, whether any chunk can be claimed (1 or 0),
-- then name, time of the next check, and info of each held chunk. ARGV: batch, maximum number of chunks
use(ARGV[1])
local most = ARGV[2]
local some = redis.call('ZRANGEBYSCORE', open, '(0', '+inf', 'WITHSCORES', 'LIMIT', 0, most)
local answer = {now_ms(), redis.call('ZCOUNT', open, '-inf', '(0') > 0 and 1 or 0}
local names = {}
for i = 1, #some, 2 do names[#names + 1] = some[i] end
local infos = #names > 0 and redis.call('HMGET', chunks, unpack(names)) or {}
for i, name in ipairs(names) do
  for _, value in ipairs({name, some[2 * i], infos[i] or '{"jobs":0}'}) do answer[#answer + 1] = value end
end
return answer
