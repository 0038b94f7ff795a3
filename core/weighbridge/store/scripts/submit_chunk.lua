-- Store a chunk, in order and exactly once. Replies:
--   new: stored | same: was stored before | conflict: another chunk has this number | gap: earlier chunks are missing
--   closed: the batch accepts no more chunks | lost: there is no such batch
-- ARGV: batch, number, name, jobs, offset, lines, prefix, payload, duplicates, packed ids
use(ARGV[1])
local number_text, name, jobs, offset, lines, digest, payload, duplicates, packed_ids = unpack(ARGV, 2)
local state = redis.call('HMGET', meta, 'chunks', 'sealed', 'closing', 'grade_us', 'graded_jobs', 'open', 'total',
  'duplicates', 'given_up', unpack(TURN))
if not state[1] then return {'lost'} end
local number, expected = tonumber(number_text), tonumber(state[1])
if number < expected then
  return {redis.call('HGET', chunks, number_text) == name and 'same' or 'conflict'}
end
if state[9] then return {'closed', 'failed'} end
if state[2] == '1' or state[3] ~= '' then return {'closed', state[3]} end
if number > expected then return {'gap', expected} end

redis.call('HSET', chunks, number_text, name, name, cjson.encode({jobs = tonumber(jobs)}),
  number_text .. ' lines', payload, number_text .. ' ids', packed_ids)
redis.call('ZADD', open, waiting(name), name)
redis.call('HSET', meta, 'chunks', number + 1, 'open', state[6] + 1, 'offset', offset, 'lines', lines,
  'prefix', digest, 'total', state[7] + jobs, 'duplicates', state[8] + duplicates, 'status', 'in_progress',
  'arrived_ms', now_ms())
if tonumber(state[6]) == 0 then keep(open) end
make_ready(unpack(state, 10, 9 + #TURN))
return {'new', state[4] or 0, state[5] or 0}
