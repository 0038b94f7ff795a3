-- Register a batch before its first chunk; a second call changes nothing.
-- ARGV: dies_ms, expires_ms, created_ms, options
if redis.call('EXISTS', meta) == 1 then return 'same' end
redis.call('HSET', meta, 'dies_ms', ARGV[1], 'expires_ms', ARGV[2], 'created_ms', ARGV[3], 'options', ARGV[4],
  'status', 'validating', 'closing', '', 'sealed', '0', 'ended_ms', '', 'chunks', 0, 'total', 0,
  'offset', 0, 'lines', 0, 'prefix', '', 'duplicates', 0, 'epoch', 0)
keep(meta)
return 'new'
