-- Shared by all scripts. KEYS[1] routes a script to the node of its batch, whose keys share a hash tag; their names
-- are derived from the batch's id. KEYS[2] and KEYS[3] are the turns of a queue's batches and the times of the
-- sweeper's checks. On a cluster these are on other nodes, so they are not passed, and the client updates them.
-- Above are constants from Python: OUTCOMES, all outcomes of jobs; UNGRADED and CUT_SHORT, those of jobs without a verdict
-- and of jobs that a batch's end cut short; and LANE_SECONDS, after which the turns in a lane that nobody renews are dropped.
local shared = 'wb:{fleet}:'
local same_server = #KEYS > 1
local batch, prefix, meta, open, chunks, log, ids

local function use(id)
  batch = id
  prefix = 'wb:{' .. id .. '}:'
  meta, open, chunks, log, ids = prefix .. 'meta', prefix .. 'open', prefix .. 'chunks', prefix .. 'log', prefix .. 'ids'
end

-- The key of a batch's open chunks that wait for a worker with a capability.
local function lane_key(lane) return prefix .. 'lane:' .. lane end

-- The key of the turns of a queue's batches.
local function turns_key(queue) return shared .. 'ready:' .. queue end

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- All keys of a batch expire together, at a time fixed when it was opened.
local function keep(...)
  local dies = redis.call('HGET', meta, 'dies_ms')
  for _, key in ipairs({...}) do redis.call('PEXPIREAT', key, dies) end
end

-- A full server refuses a script's first write unless that frees memory; it accepts all later writes.
local function write_first_so_oom_is_allowed() redis.call('HDEL', meta, '') end

-- The score in `open` says when a chunk may be claimed. A claimable chunk has a negative score in the order of
-- submission. A chunk held by a lease, by a pause after a failure, or for a worker with a capability has the time in
-- ms of the sweeper's check.
local function waiting(name) return tonumber(name:match('^%d+')) - 2 ^ 40 end

local function info_of(name)
  local raw = redis.call('HGET', chunks, name)
  return raw and cjson.decode(raw) or {jobs = 0}
end

-- Return an open chunk's info if it is still leased to the execution with this token ('' for an unleased chunk).
local function held_by(name, token)
  local info = info_of(name)
  if (info.token or '') ~= token or not redis.call('ZSCORE', open, name) then return nil end
  return info
end

-- Schedule the sweeper's next check of the batch for a time, unless an earlier one is set.
local function schedule_check(time_ms)
  if same_server then redis.call('ZADD', KEYS[3], 'LT', time_ms, batch) end
end

-- Insert the batch into its queue's turns so that it is next. The arguments are the fields of `meta` listed in TURN.
local TURN = {'ready', 'paused', 'closing', 'queue'}
local function make_ready(ready, paused, closing, queue)
  if ready == '1' or paused == '1' or closing ~= '' then return end
  redis.call('HSET', meta, 'ready', '1')
  if not same_server then return end
  local turns = turns_key(queue)
  local first = redis.call('ZRANGE', turns, 0, 0, 'WITHSCORES')
  redis.call('ZADD', turns, 'NX', first[2] or 0, batch)
end

local function make_ready_again() make_ready(unpack(redis.call('HMGET', meta, unpack(TURN)), 1, #TURN)) end

-- Open the parts of a chunk that was removed from `open`. `parts` is [[name, jobs]...], and `info` returns the info
-- of each. Returns the number of jobs and of chunks.
local function open_parts(parts, info)
  local jobs, scores, infos = 0, {}, {}
  for _, part in ipairs(parts) do
    jobs = jobs + part[2]
    scores[#scores + 1] = waiting(part[1])
    scores[#scores + 1] = part[1]
    infos[#infos + 1] = part[1]
    infos[#infos + 1] = cjson.encode(info(part[1], part[2]))
  end
  if #parts > 0 then
    redis.call('ZADD', open, unpack(scores))
    keep(open)
    redis.call('HSET', chunks, unpack(infos))
  end
  return jobs, #parts
end

-- Parts of a chunk that a retry reopened share its results from before the retry, which are stored under its name.
local function part_info(info, name, jobs)
  return {jobs = jobs, prior = info.prior, prior_name = info.prior and (info.prior_name or name)}
end

-- Note that a chunk was replaced by this number of open parts, and drop the results from before a retry after the last.
local function note_prior_parts(info, name, parts)
  if not info.prior then return end
  local prior = 'prior ' .. (info.prior_name or name)
  if redis.call('HINCRBY', chunks, prior .. ' parts', parts - 1) < 0 then
    redis.call('HDEL', chunks, prior, prior .. ' results', prior .. ' parts')
  end
end

-- Count a failure of a job in a chunk of one line, separately for each fault code: a faulty job fails in the same way
-- every time, so failures of other kinds are not its own. At the limit the job is quarantined.
local function count_failure(info, job, limit, fault)
  local counter = job .. ' ' .. fault:match('^%S*')
  info.failures = info.failures or {}
  info.failures[counter] = (info.failures[counter] or 0) + 1
  if info.failures[counter] >= tonumber(limit) then
    info.quarantined = info.quarantined or {}
    info.quarantined[job] = fault
  end
  return info.failures[counter]
end

-- Each log entry contains the position of the previous one and the epoch, so that a reader can detect missing entries.
local function log_entry(field, value, last, epoch)
  return redis.call('XADD', log, '*', field, value, 'after', last, 'epoch', epoch)
end

-- Whether no more chunks will arrive: all have, the batch is being closed, or its input broke off before a retry.
local function is_settled(sealed, closing, given_up) return sealed == '1' or closing ~= '' or given_up ~= false end

-- End a batch that is settled and has no open chunks.
local function finish(closing, last, epoch)
  last = log_entry('end', '1', last, epoch)
  local sealed, given_up = unpack(redis.call('HMGET', meta, 'sealed', 'given_up'))
  if closing ~= '' then
    local cut_short = 0
    for _, jobs in ipairs(redis.call('HMGET', meta, unpack(CUT_SHORT))) do cut_short = cut_short + (jobs or 0) end
    -- If all chunks were graded before the closing took effect, the batch is completed.
    if cut_short == 0 and sealed == '1' then
      closing = ''
      redis.call('HSET', meta, 'closing', '', 'reason', '')
    end
  elseif sealed ~= '1' then
    closing = 'failed'
    redis.call('HSET', meta, 'closing', closing, 'reason', given_up)
  end
  -- All jobs have an outcome now, unless a server that evicts keys, or another program, has deleted some of the data.
  local without_outcome = redis.call('HGET', meta, 'total')
  for _, jobs in ipairs(redis.call('HMGET', meta, unpack(OUTCOMES))) do without_outcome = without_outcome - (jobs or 0) end
  if without_outcome ~= 0 then
    closing = 'failed'
    redis.call('HSET', meta, 'closing', closing, 'reason', 'the server has lost data of the batch')
  end
  redis.call('HSET', meta, 'ended_ms', now_ms(), 'status', closing ~= '' and closing or 'completed', 'last', last)
  schedule_check(0)
end

-- End the batch if it has no open chunks, or if the server has lost their names; for batches that have not ended.
local function finish_if_done()
  local state = redis.call('HMGET', meta, 'sealed', 'closing', 'given_up', 'last', 'epoch')
  if is_settled(unpack(state, 1, 3)) and redis.call('EXISTS', open) == 0 then finish(state[2], state[4], state[5]) end
end

