-- Move a chunk to the lane of the capability that this worker lacks or, if the lane is '', make it claimable for all
-- workers. KEYS[2]: the turns in the lane. ARGV: batch, chunk, token (or '' for an unleased chunk), lane or '', ms until
-- the sweeper's check
use(ARGV[1])
local info = info_of(ARGV[2])
if (info.token or '') ~= ARGV[3] or not redis.call('ZSCORE', open, ARGV[2]) then return 0 end
write_first_so_oom_is_allowed()
if info.lane then redis.call('ZREM', lane_key(info.lane), ARGV[2]) end
info.token = nil
if ARGV[4] == '' then
  info.lane, info.anyway = nil, true
  redis.call('ZADD', open, waiting(ARGV[2]), ARGV[2])
  make_ready_again()
else
  local lane = lane_key(ARGV[4])
  info.lane = ARGV[4]
  redis.call('ZADD', lane, waiting(ARGV[2]), ARGV[2])
  keep(lane)
  redis.call('ZADD', open, now_ms() + ARGV[5], ARGV[2])
  if same_server then
    redis.call('ZADD', KEYS[2], 'NX', 0, batch)
    -- The sweeper renews turns in a lane; turns of ended batches are removed by this expiry only.
    redis.call('EXPIRE', KEYS[2], LANE_SECONDS)
  end
end
redis.call('HSET', chunks, ARGV[2], cjson.encode(info))
look_at(now_ms() + ARGV[5])
return 1
