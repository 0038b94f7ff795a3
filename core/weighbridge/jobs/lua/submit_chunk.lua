-- Take a chunk in, in order, exactly once. Answers:
--   new: stored | same: had it | conflict: had another under this number | gap: chunks before it are missing
--   closed: the batch takes no more | taken, {position, is the same line}...: ids known already, nothing stored
-- KEYS[12]: the chunk's payload. ARGV: number, digest, jobs, offset, lines, prefix, payload, duplicates,
-- ids (12 bytes each: 8 of the id's digest, 4 of the line's)
local state = redis.call('HMGET', meta, 'chunks', 'sealed', 'closing', 'grade_us', 'graded_jobs')
if not state[1] then return {'lost'} end
local number, expected = tonumber(ARGV[1]), tonumber(state[1])
if number < expected then
  return {redis.call('HGET', digests, ARGV[1]) == ARGV[2] and 'same' or 'conflict'}
end
if state[2] == '1' or state[3] ~= '' then return {'closed', state[3]} end
if number > expected then return {'gap', expected} end

-- The index: 65,536 buckets by the digest's first two bytes; an entry is the other six, four of the line's
-- digest, and three of the owner's number.
local packed, added, order, taken = ARGV[9], {}, {}, {'taken'}
local owner = string.char(math.floor(number / 65536) % 256, math.floor(number / 256) % 256, number % 256)
for first = 1, #packed, 12000 do
  local last = math.min(first + 11999, #packed)
  local buckets = {}
  for at = first, last, 12 do buckets[#buckets + 1] = packed:sub(at, at + 1) end
  local known = redis.call('HMGET', ids, unpack(buckets))
  for i, bucket in ipairs(buckets) do
    local at = first + (i - 1) * 12
    local key, held = packed:sub(at + 2, at + 7), known[i]
    local from = held and held:find(key, 1, true)
    while from and (from - 1) % 13 ~= 0 do from = held:find(key, from + 1, true) end
    if from then
      taken[#taken + 1] = (at - 1) / 12
      taken[#taken + 1] = held:sub(from + 6, from + 9) == packed:sub(at + 8, at + 11) and 1 or 0
    else
      if not added[bucket] then
        added[bucket] = held or ''
        order[#order + 1] = bucket
      end
      added[bucket] = added[bucket] .. packed:sub(at + 2, at + 11) .. owner
    end
  end
end
if #taken > 1 then return taken end

for first = 1, #order, 1000 do
  local pairs_ = {}
  for i = first, math.min(first + 999, #order) do
    pairs_[#pairs_ + 1] = order[i]
    pairs_[#pairs_ + 1] = added[order[i]]
  end
  redis.call('HSET', ids, unpack(pairs_))
end
redis.call('SET', KEYS[12], ARGV[7])
redis.call('HSET', digests, ARGV[1], ARGV[2])
redis.call('HSET', sizes, ARGV[1], ARGV[3])
redis.call('HSET', meta, 'chunks', number + 1, 'offset', ARGV[4], 'lines', ARGV[5], 'prefix', ARGV[6],
  'status', 'in_progress')
redis.call('HINCRBY', meta, 'total', ARGV[3])
redis.call('HINCRBY', meta, 'duplicates', ARGV[8])
wait_in_open(ARGV[1])
keep(ids, KEYS[12], digests, sizes, open)
return {'new', state[4] or 0, state[5] or 0}
