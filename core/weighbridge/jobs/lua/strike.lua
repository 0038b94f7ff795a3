-- Count a death on a chunk of one line, which goes out again, at the limit without the job at fault.
-- ARGV: chunk, token, the job's place on the line, limit, verdict on the job
if redis.call('HGET', claims, ARGV[1]) ~= ARGV[2] or not redis.call('ZSCORE', open, ARGV[1]) then return 0 end
redis.call('HDEL', claims, ARGV[1])
wait_in_open(ARGV[1])
return strike(ARGV[1], ARGV[3], ARGV[4], ARGV[5])
