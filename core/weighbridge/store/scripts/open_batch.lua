-- Create a batch before its first chunk; a second call changes nothing, also if the batch was deleted meanwhile.
-- ARGV: batch, dies_ms, expires_ms, created_ms, options, queue, weight, the entry for the audit log or '', the approximate
-- capacity of that log, the batch's score in the lists, the score up to which list entries are dropped, the list of active
-- batches, the lists that contain the batch...
use(ARGV[1])
local dies_ms, expires_ms, created_ms, options, queue, weight, entry, capacity, score, dropped_score, active = unpack(ARGV, 2, 12)
if redis.call('EXISTS', meta, prefix .. 'deleted') > 0 then return 'same' end
redis.call('HSET', meta, 'dies_ms', dies_ms, 'expires_ms', expires_ms, 'created_ms', created_ms, 'options', options,
  'queue', queue, 'weight', weight, 'status', 'validating', 'closing', '', 'sealed', '0', 'ended_ms', '',
  'chunks', 0, 'open', 0, 'indexed', 0, 'total', 0, 'offset', 0, 'lines', 0, 'prefix', '', 'duplicates', 0,
  'epoch', 0, 'last', '', 'ready', '0', 'paused', '0', 'rows', 0)
redis.call('HSET', chunks, 'next_check', 0)
-- An emptied stream keeps its expiry, whereas a stream created by a later write would have none.
redis.call('XADD', log, '*', 'open', '1')
redis.call('XTRIM', log, 'MAXLEN', 0)
keep(meta, chunks, log)
schedule_check(expires_ms)
if entry ~= '' then
  local audit = prefix .. 'audit'
  redis.call('RPUSH', audit, entry)
  keep(audit)
end
if same_server then  -- otherwise the client does this
  if entry ~= '' then redis.call('XADD', shared .. 'audit', 'MAXLEN', '~', capacity, '*', 'entry', entry) end
  redis.call('ZADD', active, score, batch)
  for i = 13, #ARGV do
    redis.call('ZADD', ARGV[i], score, batch)
    redis.call('ZREMRANGEBYSCORE', ARGV[i], '-inf', dropped_score)
  end
end
return 'new'
