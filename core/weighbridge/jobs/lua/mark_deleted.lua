-- Leave a mark of a batch that is deleted, until it would have died. ARGV: batch, seconds
use(ARGV[1])
write_first_so_oom_is_allowed()
redis.call('SET', 'wb:{' .. batch .. '}:deleted', 1, 'EX', ARGV[2])
