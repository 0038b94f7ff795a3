-- Replace a chunk on which a child died by its parts. ARGV: batch, chunk, token, parts (JSON [[name, jobs]...]), the
-- suspect part or '', index of the suspect job on its line, limit, fault of the job
use(ARGV[1])
local info = held_by(ARGV[2], ARGV[3])
if not info then return 0 end
redis.call('ZREM', open, ARGV[2])
redis.call('HDEL', chunks, ARGV[2])
local jobs, count = open_parts(cjson.decode(ARGV[4]), function(part, jobs)
  local fresh = part_info(info, ARGV[2], jobs)
  if part == ARGV[5] then
    fresh.suspicions = info.suspicions
    count_failure(fresh, ARGV[6], ARGV[7], ARGV[8])
  end
  return fresh
end)
note_prior_parts(info, ARGV[2], count)
redis.call('HINCRBY', meta, 'total', jobs - info.jobs)
redis.call('HINCRBY', meta, 'open', count - 1)
make_ready_again()
return 1
