-- Note when the sweeper looks at the batch next, and give the batch its turn if something in it waits without one.
-- ARGV: batch, time in ms of what is due next there, or ''
use(ARGV[1])
local state = redis.call('HMGET', meta, 'expires_ms', unpack(TURN))
if not state[1] then return 0 end
write_first_so_oom_is_allowed()
local expires, queue = tonumber(state[1]), state[5]
local next = ARGV[2] ~= '' and math.min(tonumber(ARGV[2]), expires) or expires
redis.call('HSET', chunks, 'watched', next)
if same_server then redis.call('ZADD', KEYS[3], next, batch) end
-- A turn may have been lost with a failover; the mark in the batch cannot know.
local waits = redis.call('ZCOUNT', open, '-inf', '(0') > 0
if waits and not (same_server and redis.call('ZSCORE', fleet .. 'ready:' .. queue, batch)) then
  state[2] = '0'
  make_ready(unpack(state, 2, 1 + #TURN))
end
return next
