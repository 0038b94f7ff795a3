-- Count a death on a chunk of one line; at the limit its job is condemned, and the line goes out without it.
-- ARGV: chunk, token, the strike's name (the job's place on the line), limit, verdict on the job
if redis.call('HGET', claims, ARGV[1]) ~= ARGV[2] or not redis.call('ZSCORE', open, ARGV[1]) then return 0 end
redis.call('HDEL', claims, ARGV[1])
wait_in_open(ARGV[1])
local count = redis.call('HINCRBY', strikes, ARGV[1] .. ' ' .. ARGV[3], 1)
if count >= tonumber(ARGV[4]) then
  local held = redis.call('HGET', strikes, 'condemned ' .. ARGV[1])
  local jobs = held and cjson.decode(held) or {}
  jobs[ARGV[3]] = ARGV[5]
  redis.call('HSET', strikes, 'condemned ' .. ARGV[1], cjson.encode(jobs))
end
keep(strikes)
return count
