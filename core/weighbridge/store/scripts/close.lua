-- Stop submissions and claims of a batch. ARGV: batch, final status, reason
use(ARGV[1])
local status, reason = ARGV[2], ARGV[3]
local state = redis.call('HMGET', meta, 'ended_ms', 'closing', 'queue', 'epoch')
if not state[1] then return 'lost' end
if state[1] ~= '' then return 'ended' end
if state[2] ~= '' then return 'same' end
write_first_so_oom_is_allowed()
redis.call('HSET', meta, 'closing', status, 'closed_epoch', state[4], 'reason', reason, 'ready', '0',
  'status', status == 'cancelled' and 'cancelling' or 'in_progress')
if status == 'failed' then redis.call('HSET', meta, 'given_up', reason ~= '' and reason or 'its input broke off') end
if same_server then redis.call('ZREM', turns_key(state[3]), batch) end
schedule_check(0)
finish_if_done()
return 'new'
