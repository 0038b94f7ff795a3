-- Stop a batch: nothing more is taken in or claimed. ARGV: the status it ends with, why
local state = redis.call('HMGET', meta, 'ended_ms', 'closing')
if not state[1] then return 'lost' end
if state[1] ~= '' then return 'ended' end
if state[2] ~= '' then return 'same' end
go_on_when_full()
redis.call('HSET', meta, 'closing', ARGV[1], 'reason', ARGV[2],
  'status', ARGV[1] == 'cancelled' and 'cancelling' or 'in_progress')
finish_if_done()
return 'new'
