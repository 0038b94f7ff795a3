-- Store a chunk's first results and count them; later results change no count. A chunk is identified by its name: after
-- a split or a retry it is open under other names only.
-- ARGV: batch, chunk, versions, checksum of the results, results, tally, JSON [[name, jobs]...] of its ungraded parts, name of the
-- graded chunk (the whole chunk or, if there are ungraded parts, the graded part), and the batch's final status if these
-- are the results of jobs that it cuts short, or ''
-- ZREM is the first write, because after a write that frees memory a full server accepts all others.
local ROWS = 5000  -- maximum number of rows in the summary
local ROWS_WITH_CAUSES = 4000  -- number of rows up to which causes get their own, so that outcomes have room left
local SHARED_BY_CAUSES = '"(other causes)"]'  -- end of the row that causes share
use(ARGV[1])
local name, done = ARGV[2], ARGV[8]

local function all_graded(counts)
  for _, outcome in ipairs(UNGRADED) do
    if counts[outcome] then return false end
  end
  return true
end

-- A retry may have reopened the batch since it was closed.
if ARGV[9] ~= '' and redis.call('HGET', meta, 'closing') ~= ARGV[9] then return 'late' end
if redis.call('ZREM', open, name) == 0 then
  local held = redis.call('HGET', chunks, done)
  local first = held and cjson.decode(held)
  if not first or not first.checksum then return 'late' end
  if first.checksum == ARGV[4] then return 'recorded' end
  -- Only graders' results must be reproducible; a timeout or a cancellation need not be.
  if first.versions == ARGV[3] and all_graded(cjson.decode(first.tally).counts)
    and all_graded(cjson.decode(ARGV[6]).counts) then
    redis.call('HINCRBY', meta, 'nondeterministic', 1)
  end
  return 'late'
end

local tally, info = cjson.decode(ARGV[6]), info_of(name)
if info.lane then redis.call('ZREM', lane_key(info.lane), name) end
local rest = ARGV[7] == '[]' and {} or cjson.decode(ARGV[7])
local fresh_info = function(_, jobs) return part_info(info, name, jobs) end
local rest_jobs, rest_chunks = open_parts(rest, fresh_info)

-- All counts of the batch are read together and written together.
local fields, changes, at = {}, {}, {}
local function add(field, change)
  if not at[field] then
    fields[#fields + 1] = field
    at[field] = #fields
    changes[#fields] = 0
  end
  changes[at[field]] = changes[at[field]] + change
end
local counted = 0
for outcome, count in pairs(tally.counts) do
  add(outcome, count)
  counted = counted + count
end
add('total', counted + rest_jobs - info.jobs)
add('open', rest_chunks - 1)
add('grade_us', tally.grade_us)
add('graded_jobs', tally.jobs)
local plain = #fields
for _, row in ipairs(tally.summary) do add(row[1], row[2]) end

local held = {}
for first = 1, #fields, 1000 do
  local some = redis.call('HMGET', meta, 'sealed', 'closing', 'last', 'epoch', 'rows',
    unpack(fields, first, math.min(first + 999, #fields)))
  for i = 6, #some do held[#held + 1] = some[i] end
  held.sealed, held.closing, held.last, held.epoch, held.rows = some[1], some[2], some[3], some[4], tonumber(some[5])
end
local writes = {}
local function write(field, value)
  writes[#writes + 1] = field
  writes[#writes + 1] = value
end
for i = 1, plain do write(fields[i], (held[i] or 0) + changes[i]) end
-- Labels and causes come from the input: beyond a limit they share one row, or else a hostile file could fill the server.
for _, row in ipairs(tally.summary) do
  local before = held[at[row[1]]]
  local most = row[3]:find(SHARED_BY_CAUSES, 1, true) and ROWS_WITH_CAUSES or ROWS
  if before or held.rows < most then
    if not before then held.rows = held.rows + 1 end
    write(row[1], (before or 0) + row[2])
  else
    redis.call('HINCRBY', meta, row[3], row[2])
  end
end
write('rows', held.rows)
local entry = log_entry('chunk', done, held.last, held.epoch)
write('last', entry)
for first = 1, #writes, 1000 do
  redis.call('HSET', meta, unpack(writes, first, math.min(first + 999, #writes)))
end

redis.call('HSET', chunks, done, cjson.encode({versions = ARGV[3], checksum = ARGV[4], tally = ARGV[6], at = entry}),
  done .. ' results', ARGV[5])
if done ~= name then redis.call('HDEL', chunks, name) end
note_prior_parts(info, name, rest_chunks)
if done:find('[~@]') then
  local number = done:match('^%d+')
  local parts = redis.call('HGET', chunks, number .. ' parts')
  redis.call('HSET', chunks, number .. ' parts', parts and parts .. ' ' .. done or done)
end
if (held.sealed == '1' or held.closing ~= '') and held[at.open] + changes[at.open] == 0 then
  finish(held.closing, entry, held.epoch)
end
-- The batch may have lost its turn while all of its chunks were leased.
if rest_chunks > 0 then make_ready_again() end
return 'new'
