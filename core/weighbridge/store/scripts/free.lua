-- Drop the results of recorded chunks, and the lines of those that are whole. A chunk that is open keeps its lines: a server
-- that came back with an older state, or a retry, lets it be graded again. ARGV: batch, chunks...
use(ARGV[1])
for i = 2, #ARGV do
  local name = ARGV[i]
  if info_of(name).digest then
    redis.call('HDEL', chunks, name .. ' results')
    if name:find(':', 1, true) then redis.call('HDEL', chunks, name:match('^%d+') .. ' lines') end
  end
end
return 1
