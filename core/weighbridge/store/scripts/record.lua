-- Store a chunk's first results and count them; later results change no count. A chunk is identified by its name: after
-- a split or a retry it is open under other names only.
-- ARGV: batch, chunk, versions, checksum of the results, results, tally, JSON [[name, jobs]...] of its ungraded parts, name of the
-- graded chunk (the whole chunk or, if there are ungraded parts, the graded part), and the batch's final status if these
-- are the results of jobs that it cuts short, or ''
-- ZREM is the first write, because after a write that frees memory a full server accepts all others.
local ROWS = 5000  -- maximum number of rows in the summary
local ROWS_WITH_CAUSES = 4000  -- number of rows up to which causes get their own, so that outcomes have room left
local SHARED_BY_CAUSES = '"(other causes)"]'  -- end of the row that causes share
local FIELDS_AT_ONCE = 1000  -- read or written in one command
use(ARGV[1])
local name, versions, checksum, results, packed_tally, packed_rest, done, ending = unpack(ARGV, 2)

local function all_graded(counts)
  for _, outcome in ipairs(UNGRADED) do
    if counts[outcome] then return false end
  end
  return true
end

-- Return the reply for results of a chunk that is not open, and note if they differ from the first ones.
local function compare_with_first()
  local raw = redis.call('HGET', chunks, done)
  local first = raw and cjson.decode(raw)
  if not first or not first.checksum then return 'late' end
  if first.checksum == checksum then return 'recorded' end
  -- Only graders' results must be reproducible; a timeout or a cancellation need not be.
  if first.versions == versions and all_graded(cjson.decode(first.tally).counts)
    and all_graded(cjson.decode(packed_tally).counts) then
    redis.call('HINCRBY', meta, 'nondeterministic', 1)
  end
  return 'late'
end

-- Open the ungraded parts of the chunk; return the number of their jobs, and of them.
local function open_rest(info)
  local rest = packed_rest == '[]' and {} or cjson.decode(packed_rest)
  return open_parts(rest, function(_, jobs) return part_info(info, name, jobs) end)
end

-- Return the changes to the batch's counts by field, without those to its summary.
local function changes_by(tally, more_jobs, more_chunks)
  local changes, counted = {open = more_chunks, grade_us = tally.grade_us, graded_jobs = tally.jobs}, 0
  for outcome, count in pairs(tally.counts) do
    changes[outcome] = count
    counted = counted + count
  end
  changes.total = counted + more_jobs
  return changes
end

-- Read fields of the batch. Returns its state, and the values of the fields in their order; false for one it lacks.
local function read(fields)
  local state, values = {}, {}
  for first = 1, #fields, FIELDS_AT_ONCE do
    local some = redis.call('HMGET', meta, 'sealed', 'closing', 'last', 'epoch', 'rows', 'given_up',
      unpack(fields, first, math.min(first + FIELDS_AT_ONCE - 1, #fields)))
    for i = 7, #some do values[#values + 1] = some[i] end
    state.sealed, state.closing, state.last, state.epoch, state.rows = some[1], some[2], some[3], some[4], tonumber(some[5])
    state.given_up = some[6]
  end
  return state, values
end

-- Add a tally to the batch's counts and to its summary, and the chunk to its log. All counts are read together and
-- written together. Returns the position in the log, the batch's state, and the number of its open chunks.
local function count(tally, changes)
  local fields, writes = {}, {}
  for field in pairs(changes) do fields[#fields + 1] = field end
  local counts = #fields
  for i, row in ipairs(tally.summary) do fields[counts + i] = row[1] end
  local state, values = read(fields)

  local function write(field, value)
    writes[#writes + 1] = field
    writes[#writes + 1] = value
  end
  local open_chunks
  for i = 1, counts do
    local value = (values[i] or 0) + changes[fields[i]]
    if fields[i] == 'open' then open_chunks = value end
    write(fields[i], value)
  end
  -- Labels and causes come from the input: beyond a limit they share one row, or else a hostile file could fill the server.
  for i, row in ipairs(tally.summary) do
    local before = values[counts + i]
    local most = row[3]:find(SHARED_BY_CAUSES, 1, true) and ROWS_WITH_CAUSES or ROWS
    if before or state.rows < most then
      if not before then state.rows = state.rows + 1 end
      write(row[1], (before or 0) + row[2])
    else
      redis.call('HINCRBY', meta, row[3], row[2])
    end
  end
  write('rows', state.rows)
  local entry = log_entry('chunk', done, state.last, state.epoch)
  write('last', entry)
  for first = 1, #writes, FIELDS_AT_ONCE do
    redis.call('HSET', meta, unpack(writes, first, math.min(first + FIELDS_AT_ONCE - 1, #writes)))
  end
  return entry, state, open_chunks
end

-- Store the results under the name of the graded chunk, instead of the state of the open one.
local function store(entry)
  redis.call('HSET', chunks, done, cjson.encode({versions = versions, checksum = checksum, tally = packed_tally, at = entry}),
    done .. ' results', results)
  if done ~= name then redis.call('HDEL', chunks, name) end
end

-- Note a name other than that of the submitted chunk, so that its results are found by the chunk's number.
local function note_further_name()
  if not done:find('[~@]') then return end
  local field = done:match('^%d+') .. ' parts'
  local parts = redis.call('HGET', chunks, field)
  redis.call('HSET', chunks, field, parts and parts .. ' ' .. done or done)
end

-- A retry may have reopened the batch since it was closed.
if ending ~= '' and redis.call('HGET', meta, 'closing') ~= ending then return 'late' end
if redis.call('ZREM', open, name) == 0 then return compare_with_first() end

local tally, info = cjson.decode(packed_tally), info_of(name)
if info.lane then redis.call('ZREM', lane_key(info.lane), name) end
local rest_jobs, rest_chunks = open_rest(info)
local entry, state, open_chunks = count(tally, changes_by(tally, rest_jobs - info.jobs, rest_chunks - 1))
store(entry)
note_prior_parts(info, name, rest_chunks)
note_further_name()
if is_settled(state.sealed, state.closing, state.given_up) and open_chunks == 0 then finish(state.closing, entry, state.epoch) end
-- The batch may have lost its turn while all of its chunks were leased.
if rest_chunks > 0 then make_ready_again() end
return 'new'
