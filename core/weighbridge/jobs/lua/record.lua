-- Keep a chunk's first results and count them; whatever comes later changes no count.
-- KEYS[13]: the results; KEYS[14]: those of before a retry. ARGV: chunk, versions, digest, results, tally, rest (JSON [[chunk, jobs]...] still to do),
-- done (the chunk, or where there is a rest, the part of it that these results are of)
-- ZREM comes before all else that writes: a script that has written may go on writing on a full server.
if redis.call('EXISTS', meta) == 0 then return 'late' end
local done = ARGV[7]

local function all_graded(tally)
  local counts = cjson.decode(tally).counts
  return not (counts.errored or counts.cancelled or counts.expired)
end

if redis.call('ZREM', open, ARGV[1]) == 0 then
  local first = redis.call('HGET', records, done)
  if not first then return 'late' end
  first = cjson.decode(first)
  if first.versions == ARGV[2] and first.digest == ARGV[3] then return 'recorded' end
  -- Only what graders said must be the same again; a time-out or a cancellation need not come twice.
  if first.versions == ARGV[2] and all_graded(first.tally) and all_graded(ARGV[5]) then
    redis.call('HINCRBY', meta, 'nondeterministic', 1)
  end
  return 'late'
end
redis.call('HDEL', claims, ARGV[1])
local tally, delta = cjson.decode(ARGV[5]), replace_in_open(ARGV[1], ARGV[6])
for name, count in pairs(tally.counts) do
  redis.call('HINCRBY', meta, name, count)
  delta = delta + count
end
redis.call('HINCRBY', meta, 'total', delta)
redis.call('HINCRBY', meta, 'grade_us', tally.grade_us)
redis.call('HINCRBY', meta, 'graded_jobs', tally.jobs)
-- Labels come from the input: past a bound they are counted together, or a hostile file would fill the server.
local crowded = redis.call('HLEN', summary) > 5000
for _, entry in ipairs(tally.summary) do
  local field = entry[1]
  if crowded and redis.call('HEXISTS', summary, field) == 0 then field = entry[3] end
  redis.call('HINCRBY', summary, field, entry[2])
end
redis.call('DEL', KEYS[14])
redis.call('HDEL', records, 'prior ' .. done)
redis.call('SET', KEYS[13], ARGV[4])
local at = redis.call('XADD', log, '*', 'chunk', done)
-- A chunk that is graded again stands in the log twice: its record says which place holds now.
redis.call('HSET', records, done, cjson.encode({versions = ARGV[2], digest = ARGV[3], tally = ARGV[5], at = at}))
local number, part = done:match('^(%d+):(.+)$')
if part then
  local held = redis.call('HGET', parts, number)
  if not held then
    redis.call('HSET', parts, number, part)
  elseif not (' ' .. held .. ' '):find(' ' .. part .. ' ', 1, true) then
    redis.call('HSET', parts, number, held .. ' ' .. part)
  end
  keep(parts)
end
keep(KEYS[13], records, log, summary, sizes, open)
finish_if_done()
return 'new'
