-- Replace a chunk on which a child died by its parts. ARGV: batch, chunk, token, parts (JSON [[name, jobs]...]), the
-- suspect part or '', index of the suspect job on its line, limit, fault of the job
use(ARGV[1])
local name, token, packed_parts, suspect, job, limit, fault = unpack(ARGV, 2)
local info = held_by(name, token)
if not info then return 0 end
redis.call('ZREM', open, name)
redis.call('HDEL', chunks, name)
local jobs, count = open_parts(cjson.decode(packed_parts), function(part, jobs)
  local fresh = part_info(info, name, jobs)
  if part == suspect then
    fresh.suspicions = info.suspicions
    count_failure(fresh, job, limit, fault)
  end
  return fresh
end)
note_prior_parts(info, name, count)
redis.call('HINCRBY', meta, 'total', jobs - info.jobs)
redis.call('HINCRBY', meta, 'open', count - 1)
make_ready_again()
return 1
