-- Answer the numbers of chunks that claim an id, among those whose ids are not in the index yet.
-- ARGV: 8 bytes of the id's digest, numbers of the chunks to look at...
local answer = {}
for i, packed in ipairs(redis.call('HMGET', fresh, unpack(ARGV, 2))) do
  local at = packed and packed:find(ARGV[1], 1, true)
  while at and (at - 1) % 12 ~= 0 do at = packed:find(ARGV[1], at + 1, true) end
  if at then answer[#answer + 1] = ARGV[i + 1] end
end
return answer
