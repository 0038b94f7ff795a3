-- Delete all keys of a batch and its entries in the lists atomically, so that a server that loses its last writes, and a
-- client that loses its connection, leave either all of them or none. A marker stays until the keys would have expired,
-- so that the batch is not reported as lost.
-- ARGV: batch, lifetime of the marker in seconds, number of lists, the lists that contain the batch..., lanes...
use(ARGV[1])
local marker_seconds, lists = ARGV[2], tonumber(ARGV[3])
redis.call('UNLINK', meta, open, chunks, log, ids, prefix .. 'audit')
for i = 4 + lists, #ARGV do redis.call('UNLINK', lane_key(ARGV[i])) end
if tonumber(marker_seconds) > 0 then redis.call('SET', prefix .. 'deleted', 1, 'EX', marker_seconds) end
if same_server then  -- otherwise the client has done this
  for i = 4, 3 + lists do redis.call('ZREM', ARGV[i], batch) end
end
