-- Take a recorded chunk's results back to grade it again. KEYS[12]: its results.
-- ARGV: chunk, the batch's new epoch, when it expires in ms
local held = redis.call('HGET', records, ARGV[1])
if not held then return 0 end
local tally = cjson.decode(cjson.decode(held).tally)
local jobs = 0
for name, count in pairs(tally.counts) do
  redis.call('HINCRBY', meta, name, -count)
  jobs = jobs + count
end
for _, entry in ipairs(tally.summary) do
  local field = redis.call('HEXISTS', summary, entry[1]) == 1 and entry[1] or entry[3]
  if redis.call('HINCRBY', summary, field, -entry[2]) <= 0 then redis.call('HDEL', summary, field) end
end
redis.call('HDEL', records, ARGV[1])
redis.call('DEL', KEYS[12])
redis.call('HDEL', strikes, 'condemned ' .. ARGV[1])
for _, field in ipairs(redis.call('HKEYS', strikes)) do
  if field:sub(1, #ARGV[1] + 1) == ARGV[1] .. ' ' then redis.call('HDEL', strikes, field) end
end
redis.call('HSET', sizes, ARGV[1], jobs)
redis.call('HSET', meta, 'status', 'in_progress', 'ended_ms', '', 'closing', '', 'reason', '',
  'epoch', ARGV[2], 'expires_ms', ARGV[3])
wait_in_open(ARGV[1])
keep(sizes, open)
return 1
