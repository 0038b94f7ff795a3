-- Lease the next chunk of the batch whose turn it is. Replies: batch, chunk, info, lines, the batch's options if this is
-- its first chunk or else '', and whether other batches are waiting for their turn; an empty reply if there is nothing to
-- claim.
-- KEYS[2]: the turns of the queue. ARGV: the batch chosen by the client on a cluster, or ''; token, lease in ms,
-- lane (see `set_aside`) or '', seconds of work that a claim is charged with, the queue
local BATCHES_AT_ONCE = 64
local chosen, token, lease_ms, lane, charged_seconds, queue = unpack(ARGV)

-- A full server refuses the lease's ZADD unless the script has freed memory before.
local function hold(name, ends)
  local refused = redis.pcall('ZADD', open, ends, name)
  if type(refused) == 'table' and refused.err then
    redis.call('ZREM', open, name)
    redis.call('ZADD', open, ends, name)
    keep(open)
  end
end

-- Lanes keep the turns of paused and closed batches, so these are checked here.
local function is_stopped()
  local state = redis.call('HMGET', meta, 'paused', 'closing')
  return state[1] ~= '0' or state[2] ~= ''
end

-- Take the next chunk out of the lane, and return its name; nil if none waits there.
local function next_in_lane()
  if is_stopped() then return nil end
  local key = lane_key(lane)
  local name = redis.call('ZRANGE', key, 0, 0)[1]
  if name then redis.call('ZREM', key, name) end
  return name
end

-- Lease the next chunk of a batch, and return the reply without its last part; nil if no chunk can be claimed.
local function claim(id)
  use(id)
  local name
  if lane ~= '' then
    name = next_in_lane()
  else
    name = redis.call('ZRANGEBYSCORE', open, '-inf', '(0', 'LIMIT', 0, 1)[1]
  end
  if not name then return nil end
  local ends = now_ms() + tonumber(lease_ms)
  local raw, lines, next_check = unpack(redis.call('HMGET', chunks, name, name:match('^%d+') .. ' lines', 'next_check'))
  local info = raw and cjson.decode(raw) or {jobs = 0}
  info.token = token
  hold(name, ends)
  -- If the sweeper checks the batch before this lease ends, it schedules the next check itself.
  next_check = tonumber(next_check or 0)
  if next_check == 0 or next_check > ends then
    redis.call('HSET', chunks, name, cjson.encode(info), 'next_check', ends)
    schedule_check(ends)
  else
    redis.call('HSET', chunks, name, cjson.encode(info))
  end
  local options = name:sub(1, 2) == '0:' and redis.call('HGET', meta, 'options') or ''
  return {id, name, raw or '{"jobs":0}', lines, options}
end

-- Note that a batch without a chunk to claim waits for no turn. If the server has lost the names of its chunks, it ends.
local function give_up_turn()
  if lane ~= '' or redis.call('EXISTS', meta) == 0 then return end
  redis.call('HSET', meta, 'ready', '0')
  if redis.call('HGET', meta, 'ended_ms') == '' then finish_if_done() end
end

if chosen ~= '' then
  local reply = claim(chosen)
  if not reply then give_up_turn() end
  return reply or {}
end

local function take_turn(id, is_contended)
  local reply = claim(id)
  if not reply then return nil end
  if is_contended then redis.call('ZINCRBY', KEYS[2], charged_seconds / (redis.call('HGET', meta, 'weight') or 1), id) end
  reply[#reply + 1] = is_contended and 1 or 0
  return reply
end

if redis.call('HEXISTS', shared .. 'paused', queue) == 1 then return {} end

for _ = 1, BATCHES_AT_ONCE do
  local turns = redis.call('ZRANGE', KEYS[2], 0, 1, 'WITHSCORES')
  if not turns[1] then return {} end
  local is_sound, reply = pcall(take_turn, turns[1], #turns > 2)
  if not is_sound and tostring(type(reply) == 'table' and reply.err or reply):find('OOM', 1, true) then error(reply) end
  if is_sound and reply then return reply end
  redis.call('ZREM', KEYS[2], batch)
  -- Damaged data of one batch must not block the other batches of its queue.
  if is_sound then give_up_turn() end
end
return {}
