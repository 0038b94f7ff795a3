-- Schedule the sweeper's next check of the batch for the time of its first held chunk, including chunks claimed during
-- the sweep. Give the batch a turn if it has claimable chunks and no turn. ARGV: batch
use(ARGV[1])
local state = redis.call('HMGET', meta, 'expires_ms', unpack(TURN))
if not state[1] then return 0 end
write_first_so_oom_is_allowed()
if redis.call('HGET', meta, 'ended_ms') == '' then finish_if_done() end
local expires, queue = tonumber(state[1]), state[5]
local first = redis.call('ZRANGEBYSCORE', open, '(0', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local next = math.min(tonumber(first[2] or expires), expires)
redis.call('HSET', chunks, 'next_check', next)
if same_server then redis.call('ZADD', KEYS[3], next, batch) end
-- A failover may have lost the turn, of which the flag `ready` has no record.
local waits = redis.call('ZCOUNT', open, '-inf', '(0') > 0
if waits and not (same_server and redis.call('ZSCORE', turns_key(queue), batch)) then
  state[2] = '0'
  make_ready(unpack(state, 2, 1 + #TURN))
end
return next
