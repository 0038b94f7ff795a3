-- Reopen a recorded chunk under a new name to grade it again; its previous results are kept until there are new ones.
-- ARGV: batch, chunk, the chunk's new name, the batch's new epoch, the batch's new expiry in ms.
-- Replies 1, 0 (nothing to reopen), or -1 (the batch was cancelled meanwhile)
use(ARGV[1])
local name, new_name, new_epoch, expires_ms = unpack(ARGV, 2)
local state = redis.call('HMGET', meta, 'epoch', 'closed_epoch', 'sealed', 'given_up')
if not state[1] then return 0 end
local epoch = tonumber(new_epoch)
-- The first chunk of a retry reopens the batch; if the batch is closed after that, it stays closed.
if tonumber(state[2] or -1) >= epoch then return -1 end
-- Another retry was faster: a chunk that it has opened must not be opened under the same name again.
if tonumber(state[1]) > epoch or name == new_name then return 0 end
local number = name:match('^%d+')
local raw, results = unpack(redis.call('HMGET', chunks, name, name .. ' results'))
local first = raw and cjson.decode(raw)
if not first or not first.checksum or not results or redis.call('HEXISTS', chunks, number .. ' lines') == 0 then return 0 end
local tally = cjson.decode(first.tally)
local jobs = 0
for outcome, count in pairs(tally.counts) do
  redis.call('HINCRBY', meta, outcome, -count)
  jobs = jobs + count
end
for _, entry in ipairs(tally.summary) do
  local count, own = entry[2], tonumber(redis.call('HGET', meta, entry[1]) or 0)
  if own > count then
    redis.call('HINCRBY', meta, entry[1], -count)
  elseif own > 0 then
    redis.call('HDEL', meta, entry[1])
    redis.call('HINCRBY', meta, 'rows', -1)
  end
  -- Jobs missing from the label's own row were counted in the shared row for labels beyond the limit.
  if own < count and redis.call('HINCRBY', meta, entry[3], own - count) <= 0 then redis.call('HDEL', meta, entry[3]) end
end
redis.call('HINCRBY', meta, 'reopened', 1)
redis.call('HDEL', chunks, name, name .. ' results')
redis.call('HSET', chunks, 'prior ' .. new_name, raw, 'prior ' .. new_name .. ' results', results,
  new_name, cjson.encode({jobs = jobs, prior = true}))
-- A batch whose input broke off ends as failed again, for the same reason.
local reason = state[3] ~= '1' and state[4] or ''
redis.call('HSET', meta, 'status', 'in_progress', 'ended_ms', '', 'closing', '', 'reason', reason,
  'epoch', new_epoch, 'expires_ms', expires_ms)
redis.call('ZADD', open, waiting(new_name), new_name)
redis.call('HINCRBY', meta, 'open', 1)
keep(open)
make_ready_again()
schedule_check(expires_ms)
return 1
