-- Answer the chunks to publish again: leases that ended or whose worker is gone, and, where asked, those that
-- have waited since before a time. Two sweepers never get the same one.
-- ARGV: patience in ms or -1 for none of the waiting, most to answer, names of the living workers...
local now, due, alive = now_ms(), {}, {}
for i = 3, #ARGV do alive[ARGV[i]] = true end
local leased = redis.call('ZRANGEBYSCORE', open, 1, '+inf', 'WITHSCORES')
for i = 1, #leased, 2 do
  local worker = (redis.call('HGET', claims, leased[i]) or ''):match('^(.*)/')
  if tonumber(leased[i + 1]) <= now or not alive[worker] then
    redis.call('HDEL', claims, leased[i])
    due[#due + 1] = leased[i]
  end
end
if tonumber(ARGV[1]) >= 0 then
  local waiting = redis.call('ZRANGEBYSCORE', open, -(now - tonumber(ARGV[1])), 0, 'LIMIT', 0, ARGV[2])
  for _, chunk in ipairs(waiting) do due[#due + 1] = chunk end
end
go_on_when_full()
for _, chunk in ipairs(due) do redis.call('ZADD', open, -now, chunk) end
return due
