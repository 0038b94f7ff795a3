-- Shared by every script. KEYS[1] routes a script to the node of its batch, all of whose keys share a hash tag; their
-- names follow from the batch's id. KEYS[2] and KEYS[3] are the turns of the batches of a queue and the index of
-- what is due, where they lie on the same server; on a cluster they lie elsewhere, and the client keeps them itself.
local fleet = 'wb:{fleet}:'
local same_server = #KEYS > 1
local batch, meta, open, chunks, log, ids

local function use(id)
  batch = id
  local prefix = 'wb:{' .. id .. '}:'
  meta, open, chunks, log, ids = prefix .. 'meta', prefix .. 'open', prefix .. 'chunks', prefix .. 'log', prefix .. 'ids'
end

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- All keys of a batch die together, at a time fixed when it was opened.
local function keep(...)
  local dies = redis.call('HGET', meta, 'dies_ms')
  for _, key in ipairs({...}) do redis.call('PEXPIREAT', key, dies) end
end

-- A full server refuses a script's first write unless that frees memory; after one write it refuses none.
local function write_first_so_oom_is_allowed() redis.call('HDEL', meta, '') end

-- The score in `open` says when a chunk may be claimed. Waiting: negative, in the order of submission. Held back, by a
-- lease, a pause after a failure, or for a worker that can grade it: the time in ms at which the sweeper looks at it.
local function waiting(name) return tonumber(name:match('^%d+')) - 2 ^ 40 end

local function info_of(name)
  local held = redis.call('HGET', chunks, name)
  return held and cjson.decode(held) or {jobs = 0}
end

-- Whether an open chunk is still held by the execution with this token; '' is that of a chunk held by nobody.
-- Returns the chunk's info if so.
local function held_by(name, token)
  local info = info_of(name)
  if (info.token or '') ~= token or not redis.call('ZSCORE', open, name) then return nil end
  return info
end

-- Let the sweeper look at the batch at a time, or sooner.
local function look_at(time_ms)
  if same_server then redis.call('ZADD', KEYS[3], 'LT', time_ms, batch) end
end

-- Give the batch its turn among those of its queue: the next. The arguments are what TURN names in `meta`.
local TURN = {'ready', 'paused', 'closing', 'queue'}
local function make_ready(ready, paused, closing, queue)
  if ready == '1' or paused == '1' or closing ~= '' then return end
  redis.call('HSET', meta, 'ready', '1')
  if not same_server then return end
  local turns = fleet .. 'ready:' .. queue
  local first = redis.call('ZRANGEBYSCORE', turns, '(-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  redis.call('ZADD', turns, 'NX', first[2] or 0, batch)
end

local function make_ready_again() make_ready(unpack(redis.call('HMGET', meta, unpack(TURN)), 1, #TURN)) end

-- Put open chunks where one stood that was taken out of `open`: JSON [[name, jobs]...], each with an info.
-- Returns how many jobs and how many chunks they are.
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

-- Count a failure of a job of a chunk of one line, a fault's code apart from the others: what a job does it does every
-- time, and what befalls its worker besides is not the job's. At the limit the job is not tried again.
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

-- Each entry of the log names the one before it and the epoch, so that who reads on knows that nothing else was there.
local function log_entry(field, value, last, epoch)
  return redis.call('XADD', log, '*', field, value, 'after', last, 'epoch', epoch)
end

-- The one check for the end of a batch: everything has arrived, or nothing more may, and nothing is open.
local function finish(closing, last, epoch)
  last = log_entry('end', '1', last, epoch)
  if closing ~= '' then
    local state = redis.call('HMGET', meta, 'sealed', 'cancelled', 'expired')
    -- Every chunk was graded before it could be closed: then nothing was.
    if state[1] == '1' and tonumber(state[2] or 0) == 0 and tonumber(state[3] or 0) == 0 then
      closing = ''
      redis.call('HSET', meta, 'closing', '', 'reason', '')
    end
  end
  redis.call('HSET', meta, 'ended_ms', now_ms(), 'status', closing ~= '' and closing or 'completed', 'last', last)
  look_at(0)
end

-- For a batch that has not ended.
local function finish_if_done()
  local state = redis.call('HMGET', meta, 'sealed', 'closing', 'open', 'last', 'epoch')
  local settled = state[1] == '1' or state[2] ~= ''
  if settled and tonumber(state[3]) == 0 then finish(state[2], state[4], state[5]) end
end

