-- Stop or resume claims of a batch's chunks. ARGV: batch, 1 (stop) or 0 (resume)
use(ARGV[1])
local paused = ARGV[2]
local state = redis.call('HMGET', meta, 'ended_ms', unpack(TURN))
if not state[1] then return 'lost' end
if state[1] ~= '' then return 'ended' end
write_first_so_oom_is_allowed()
redis.call('HSET', meta, 'paused', paused, 'ready', '0')
if paused == '1' then
  if same_server then redis.call('ZREM', turns_key(state[5]), batch) end
else
  make_ready_again()
end
return 'done'
