-- Replace a chunk that a child died on by its parts. ARGV: chunk, token, parts (JSON [[chunk, jobs]...]),
-- the suspect part or '', the strike's name
if redis.call('HGET', claims, ARGV[1]) ~= ARGV[2] then return 0 end
if redis.call('ZREM', open, ARGV[1]) == 0 then return 0 end
redis.call('HDEL', claims, ARGV[1])
local delta = -(tonumber(redis.call('HGET', sizes, ARGV[1])) or 0)
redis.call('HDEL', sizes, ARGV[1])
for _, part in ipairs(cjson.decode(ARGV[3])) do
  wait_in_open(part[1])
  redis.call('HSET', sizes, part[1], part[2])
  delta = delta + part[2]
end
redis.call('HINCRBY', meta, 'total', delta)
if ARGV[4] ~= '' then redis.call('HINCRBY', strikes, ARGV[4] .. ' ' .. ARGV[5], 1) end
keep(strikes, sizes, open)
return 1
