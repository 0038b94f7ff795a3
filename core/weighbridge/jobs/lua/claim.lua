-- Lease a chunk to one execution. ARGV: chunk, token, lease in ms
local closing = redis.call('HGET', meta, 'closing')
if not closing then return 'lost' end
if closing ~= '' then return 'stop' end
local score = redis.call('ZSCORE', open, ARGV[1])
if not score then return 'done' end
local now = now_ms()
if tonumber(score) > now and redis.call('HGET', claims, ARGV[1]) ~= ARGV[2] then return 'leased' end
go_on_when_full()
redis.call('ZADD', open, now + tonumber(ARGV[3]), ARGV[1])
redis.call('HSET', claims, ARGV[1], ARGV[2])
keep(claims)
return 'work'
