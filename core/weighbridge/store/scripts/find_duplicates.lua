-- Find which of some ids the batch already has. If the index lacks a chunk's ids, index one chunk instead.
-- ARGV: batch, packed ids of 12 bytes: 8 of the id's digest, 4 of its line's digest. Replies:
--   behind: one chunk was indexed, call again | taken, {position, whether the line is the same}... | lost
-- The index has 65,536 buckets by the digest's first two bytes; an entry is the other six, four of the line's
-- digest, and three of its chunk's number.
use(ARGV[1])
local searched = ARGV[2]
local state = redis.call('HMGET', meta, 'indexed', 'chunks')
if not state[1] then return {'lost'} end

-- Call `visit` with the offset of each packed id, its bucket's name, and the bucket.
local function look_up(packed, visit)
  for first = 1, #packed, 12000 do
    local last = math.min(first + 11999, #packed)
    local names = {}
    for at = first, last, 12 do names[#names + 1] = packed:sub(at, at + 1) end
    local buckets = redis.call('HMGET', ids, unpack(names))
    for i, name in ipairs(names) do visit(first + (i - 1) * 12, name, buckets[i]) end
  end
end

local number = tonumber(state[1])
if number < tonumber(state[2]) then
  local field = state[1] .. ' ids'
  local packed, order, added = redis.call('HGET', chunks, field) or '', {}, {}
  local owner = string.char(math.floor(number / 65536) % 256, math.floor(number / 256) % 256, number % 256)
  redis.call('HDEL', chunks, field)
  redis.call('HSET', meta, 'indexed', number + 1)
  look_up(packed, function(at, name, bucket)
    if not added[name] then
      added[name] = bucket or ''
      order[#order + 1] = name
    end
    added[name] = added[name] .. packed:sub(at + 2, at + 11) .. owner
  end)
  for first = 1, #order, 1000 do
    local changed = {}
    for i = first, math.min(first + 999, #order) do
      changed[#changed + 1] = order[i]
      changed[#changed + 1] = added[order[i]]
    end
    redis.call('HSET', ids, unpack(changed))
  end
  keep(ids)
  return {'behind'}
end

local answer = {'taken'}
look_up(searched, function(at, _, bucket)
  local key = searched:sub(at + 2, at + 7)
  local from = bucket and bucket:find(key, 1, true)
  while from and (from - 1) % 13 ~= 0 do from = bucket:find(key, from + 1, true) end
  if from then
    answer[#answer + 1] = (at - 1) / 12
    answer[#answer + 1] = bucket:sub(from + 6, from + 9) == searched:sub(at + 8, at + 11) and 1 or 0
  end
end)
return answer
