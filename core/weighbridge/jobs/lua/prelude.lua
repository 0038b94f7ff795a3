-- Shared by every script; all keys of a batch share a hash tag, so that a script also runs on a cluster.
local meta, open, claims, sizes, records, log, summary, ids, digests, parts, strikes = unpack(KEYS, 1, 11)

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- All keys of a batch die together, at a time fixed when it was opened.
local function keep(...)
  local dies = redis.call('HGET', meta, 'dies_ms')
  for _, key in ipairs({...}) do redis.call('PEXPIREAT', key, dies) end
end

-- The one completion check: everything has arrived and nothing is open.
local function finish_if_done()
  local state = redis.call('HMGET', meta, 'sealed', 'ended_ms', 'closing')
  if state[1] ~= '1' or state[2] ~= '' or redis.call('ZCARD', open) > 0 then return end
  redis.call('HSET', meta, 'ended_ms', now_ms(), 'status', state[3] ~= '' and state[3] or 'completed')
  redis.call('XADD', log, '*', 'end', '1')
  keep(log)
end

-- What ends or hands on work must not be refused by a full server; it lets a script that has written go on writing.
local function go_on_when_full() redis.call('HDEL', claims, '') end

-- A waiting chunk's score is minus the time it was last published; a leased one's is its lease's end.
local function wait_in_open(chunk) redis.call('ZADD', open, -now_ms(), chunk) end

