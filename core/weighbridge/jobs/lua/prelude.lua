-- Shared by every script; all keys of a batch share a hash tag, so that a script also runs on a cluster.
local meta, open, claims, sizes, records, log, summary, ids, fresh, digests, parts, strikes = unpack(KEYS, 1, 12)

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- All keys of a batch die together, at a time fixed when it was opened.
local function keep(...)
  local dies = redis.call('HGET', meta, 'dies_ms')
  for _, key in ipairs({...}) do redis.call('PEXPIREAT', key, dies) end
end

-- The one completion check: everything has arrived, or nothing more may, and nothing is open.
local function finish_if_done()
  local state = redis.call('HMGET', meta, 'sealed', 'ended_ms', 'closing')
  local settled = state[1] == '1' or state[3] ~= ''
  if not settled or state[2] ~= '' or redis.call('ZCARD', open) > 0 then return end
  redis.call('HSET', meta, 'ended_ms', now_ms(), 'status', state[3] ~= '' and state[3] or 'completed')
  redis.call('XADD', log, '*', 'end', '1')
  keep(log)
end

-- What ends or hands on work must not be refused by a full server; it lets a script that has written go on writing.
local function go_on_when_full() redis.call('HDEL', claims, '') end

-- A waiting chunk's score is minus the time it was last published; a leased one's is its lease's end.
local function wait_in_open(chunk) redis.call('ZADD', open, -now_ms(), chunk) end

-- Put chunks in the place of one that was open: JSON [[chunk, jobs]...]. Returns how many jobs more they are.
local function replace_in_open(chunk, parts)
  -- Subtracted from 0: a negated 0 is -0, which HINCRBY refuses.
  local more = 0 - (tonumber(redis.call('HGET', sizes, chunk)) or 0)
  redis.call('HDEL', sizes, chunk)
  for _, part in ipairs(cjson.decode(parts)) do
    wait_in_open(part[1])
    redis.call('HSET', sizes, part[1], part[2])
    more = more + part[2]
  end
  return more
end

-- Count a death at a job of a chunk of one line; at the limit the job is condemned.
local function strike(chunk, job, limit, verdict)
  local count = redis.call('HINCRBY', strikes, chunk .. ' ' .. job, 1)
  if count >= tonumber(limit) then
    local held = redis.call('HGET', strikes, 'condemned ' .. chunk)
    local jobs = held and cjson.decode(held) or {}
    jobs[job] = verdict
    redis.call('HSET', strikes, 'condemned ' .. chunk, cjson.encode(jobs))
  end
  keep(strikes)
  return count
end

