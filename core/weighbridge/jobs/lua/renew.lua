-- Extend a lease that is still this execution's. ARGV: chunk, token, lease in ms
if redis.call('HGET', claims, ARGV[1]) ~= ARGV[2] then return 0 end
if not redis.call('ZSCORE', open, ARGV[1]) then return 0 end
go_on_when_full()
redis.call('ZADD', open, now_ms() + tonumber(ARGV[3]), ARGV[1])
return 1
