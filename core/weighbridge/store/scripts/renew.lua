-- Extend a lease that is still valid, and save the running job if the chunk is suspected of killing whole workers.
-- ARGV: batch, chunk, token, lease in ms, "line job" or ''
use(ARGV[1])
local name, token, lease_ms, at = unpack(ARGV, 2)
local info = held_by(name, token)
if not info then return 0 end
write_first_so_oom_is_allowed()
local ends = now_ms() + tonumber(lease_ms)
redis.call('ZADD', open, ends, name)
if at ~= '' then
  info.at = at
  redis.call('HSET', chunks, name, cjson.encode(info))
end
return 1
