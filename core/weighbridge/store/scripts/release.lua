-- Return a leased chunk to the open ones without counting a failure. ARGV: batch, chunk, token, 1 if its whole worker
-- died with it, delay in ms before it may be claimed again
use(ARGV[1])
local info = held_by(ARGV[2], ARGV[3])
if not info then return 0 end
write_first_so_oom_is_allowed()
info.token, info.at = nil, nil
if ARGV[4] == '1' then info.suspicions = (info.suspicions or 0) + 1 end
local lane = info.lane and lane_key(info.lane)
if lane then
  redis.call('ZADD', lane, waiting(ARGV[2]), ARGV[2])
  keep(lane)
  redis.call('ZADD', open, now_ms() + 1000, ARGV[2])
elseif tonumber(ARGV[5]) > 0 then
  redis.call('ZADD', open, now_ms() + ARGV[5], ARGV[2])
else
  redis.call('ZADD', open, waiting(ARGV[2]), ARGV[2])
  make_ready_again()
end
redis.call('HSET', chunks, ARGV[2], cjson.encode(info))
look_at(now_ms() + math.max(1000, ARGV[5]))
return 1
