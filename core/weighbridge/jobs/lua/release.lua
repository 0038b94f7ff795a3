-- Give a lease back unused; it counts as no attempt. ARGV: chunk, token
if redis.call('HGET', claims, ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HDEL', claims, ARGV[1])
if not redis.call('ZSCORE', open, ARGV[1]) then return 0 end
wait_in_open(ARGV[1])
return 1
