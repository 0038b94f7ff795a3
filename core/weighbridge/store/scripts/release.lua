-- Return a leased chunk to the open ones without counting a failure. ARGV: batch, chunk, token, 1 if its whole worker
-- died with it, delay in ms before it may be claimed again
use(ARGV[1])
local name, token, is_suspect, pause_ms = unpack(ARGV, 2)
local info = held_by(name, token)
if not info then return 0 end
write_first_so_oom_is_allowed()
info.token, info.at = nil, nil
if is_suspect == '1' then info.suspicions = (info.suspicions or 0) + 1 end
local lane = info.lane and lane_key(info.lane)
if lane then
  redis.call('ZADD', lane, waiting(name), name)
  keep(lane)
  redis.call('ZADD', open, now_ms() + 1000, name)
elseif tonumber(pause_ms) > 0 then
  redis.call('ZADD', open, now_ms() + pause_ms, name)
else
  redis.call('ZADD', open, waiting(name), name)
  make_ready_again()
end
redis.call('HSET', chunks, name, cjson.encode(info))
schedule_check(now_ms() + math.max(1000, pause_ms))
return 1
