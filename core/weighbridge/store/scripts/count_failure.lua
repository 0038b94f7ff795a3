-- Count a failure of a job in a chunk of one line, and make the chunk claimable again; at the limit, the job is
-- quarantined. ARGV: batch, chunk, token, the job's index on the line, limit, fault of the job
use(ARGV[1])
local name, token, job, limit, fault = unpack(ARGV, 2)
local info = held_by(name, token)
if not info then return 0 end
write_first_so_oom_is_allowed()
local count = count_failure(info, job, limit, fault)
info.token, info.at = nil, nil
redis.call('ZADD', open, waiting(name), name)
redis.call('HSET', chunks, name, cjson.encode(info))
make_ready_again()
return count
