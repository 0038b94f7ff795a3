-- Take a chunk in, in order, exactly once. Answers:
--   new: stored | same: had it | conflict: had another under this number | gap: chunks before it are missing
--   closed: the batch takes no more
-- KEYS[13]: the chunk's payload. ARGV: number, digest, jobs, offset, lines, prefix, payload, duplicates, packed ids
local state = redis.call('HMGET', meta, 'chunks', 'sealed', 'closing', 'grade_us', 'graded_jobs')
if not state[1] then return {'lost'} end
local number, expected = tonumber(ARGV[1]), tonumber(state[1])
if number < expected then
  return {redis.call('HGET', digests, ARGV[1]) == ARGV[2] and 'same' or 'conflict'}
end
if state[2] == '1' or state[3] ~= '' then return {'closed', state[3]} end
if number > expected then return {'gap', expected} end

redis.call('SET', KEYS[13], ARGV[7])
redis.call('HSET', fresh, ARGV[1], ARGV[9])
redis.call('HSET', digests, ARGV[1], ARGV[2])
redis.call('HSET', sizes, ARGV[1], ARGV[3])
redis.call('HSET', meta, 'chunks', number + 1, 'offset', ARGV[4], 'lines', ARGV[5], 'prefix', ARGV[6],
  'status', 'in_progress')
redis.call('HINCRBY', meta, 'total', ARGV[3])
redis.call('HINCRBY', meta, 'duplicates', ARGV[8])
wait_in_open(ARGV[1])
keep(KEYS[13], fresh, digests, sizes, open)
return {'new', state[4] or 0, state[5] or 0}
