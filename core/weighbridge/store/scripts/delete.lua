-- Drop all keys of a batch, at once: a server that comes back without its last writes has all of it or nothing. A mark
-- stays until the batch would have died, so that it is not taken for a lost one.
-- ARGV: batch, seconds that the mark stays, lanes...
use(ARGV[1])
local prefix = 'wb:{' .. batch .. '}:'
redis.call('UNLINK', meta, open, chunks, log, ids, prefix .. 'audit')
for i = 3, #ARGV do redis.call('UNLINK', prefix .. 'lane:' .. ARGV[i]) end
if tonumber(ARGV[2]) > 0 then redis.call('SET', prefix .. 'deleted', 1, 'EX', ARGV[2]) end
