-- Move a chunk to the lane of the capability that this worker lacks or, if the lane is '', make it claimable for all
-- workers. KEYS[2]: the turns in the lane. ARGV: batch, chunk, token (or '' for an unleased chunk), lane or '', ms until
-- the sweeper's check
use(ARGV[1])
local name, token, lane, check_ms = unpack(ARGV, 2)
local info = info_of(name)
if (info.token or '') ~= token or not redis.call('ZSCORE', open, name) then return 0 end
write_first_so_oom_is_allowed()
if info.lane then redis.call('ZREM', lane_key(info.lane), name) end
info.token = nil
if lane == '' then
  info.lane, info.anyway = nil, true
  redis.call('ZADD', open, waiting(name), name)
  make_ready_again()
else
  local key = lane_key(lane)
  info.lane = lane
  redis.call('ZADD', key, waiting(name), name)
  keep(key)
  redis.call('ZADD', open, now_ms() + check_ms, name)
  if same_server then
    redis.call('ZADD', KEYS[2], 'NX', 0, batch)
    -- The sweeper renews turns in a lane; turns of ended batches are removed by this expiry only.
    redis.call('EXPIRE', KEYS[2], LANE_SECONDS)
  end
end
redis.call('HSET', chunks, name, cjson.encode(info))
schedule_check(now_ms() + check_ms)
return 1
