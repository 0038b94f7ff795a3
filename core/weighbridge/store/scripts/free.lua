-- Delete the results of recorded chunks, and the submitted lines of unsplit ones. An open chunk keeps its lines,
-- because it is to be graded again after a rollback of the server or a retry. ARGV: batch, chunks...
use(ARGV[1])
for i = 2, #ARGV do
  local name = ARGV[i]
  if info_of(name).checksum then
    redis.call('HDEL', chunks, name .. ' results')
    if name:find(':', 1, true) then redis.call('HDEL', chunks, name:match('^%d+') .. ' lines') end
  end
end
return 1
