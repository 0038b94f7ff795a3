-- Open a recorded chunk to grade it again; its results of before are kept until there are new ones.
-- KEYS[13]: its results; KEYS[14]: where they are kept; KEYS[15]: its lines.
-- ARGV: chunk, the batch's new epoch, when it expires in ms. Answers 1, 0 (nothing to open), or -1 (cancelled since)
local state = redis.call('HMGET', meta, 'closing', 'epoch')
if not state[1] then return 0 end
-- The first chunk of a retry opens the batch again; what has closed it since then stands.
if state[1] ~= '' and tonumber(state[2]) >= tonumber(ARGV[2]) then return -1 end
local held = redis.call('HGET', records, ARGV[1])
if not held or redis.call('EXISTS', KEYS[15]) == 0 or redis.call('EXISTS', KEYS[13]) == 0 then return 0 end
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
redis.call('HINCRBY', meta, 'reopened', 1)
redis.call('RENAME', KEYS[13], KEYS[14])
redis.call('HDEL', records, ARGV[1])
redis.call('HSET', records, 'prior ' .. ARGV[1], held)
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
