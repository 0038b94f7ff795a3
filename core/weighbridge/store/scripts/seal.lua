-- Seal the batch if all chunks have arrived. ARGV: batch, number of chunks, digest of all their lines
use(ARGV[1])
local number, digest = ARGV[2], ARGV[3]
local state = redis.call('HMGET', meta, 'chunks', 'sealed', 'closing', 'prefix', 'given_up')
if not state[1] then return {'lost'} end
if tonumber(state[1]) ~= tonumber(number) then return {'gap', tonumber(state[1])} end
if state[4] ~= digest then return {'conflict'} end
if state[2] == '1' then return {'same'} end
if state[3] ~= '' or state[5] then return {'closed', state[5] and 'failed' or state[3]} end
write_first_so_oom_is_allowed()
redis.call('HSET', meta, 'sealed', '1', 'status', 'in_progress')
finish_if_done()
return {'new'}
