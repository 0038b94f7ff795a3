-- Return the numbers of chunks that contain an id, among chunks that are not indexed yet.
-- ARGV: batch, 8 bytes of the id's digest, numbers of the chunks to search...
use(ARGV[1])
local digest = ARGV[2]
local answer, fields = {}, {}
for i = 3, #ARGV do fields[#fields + 1] = ARGV[i] .. ' ids' end
for i, packed in ipairs(redis.call('HMGET', chunks, unpack(fields))) do
  local at = packed and packed:find(digest, 1, true)
  while at and (at - 1) % 12 ~= 0 do at = packed:find(digest, at + 1, true) end
  if at then answer[#answer + 1] = ARGV[i + 2] end
end
return answer
