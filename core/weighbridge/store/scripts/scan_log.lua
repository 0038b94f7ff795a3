-- Scan the log after a position for chunks whose results may match a search.
-- ARGV: batch, position or '', maximum entries to scan, maximum entries to return, chunk numbers (' 3 17 ') or '' for
-- any, a text whose presence in the record admits other chunks too, and texts that a record must all contain...
-- Replies: the last position scanned, position and name of the last chunk scanned, then position, name and record of
-- each chunk found. The reply is empty at the end of the log, and 'lost' alone if its first entries, or all records, are
-- missing.
use(ARGV[1])
local after, most_entries, most_found, numbers, or_text = unpack(ARGV, 2, 6)
local entries = redis.call('XRANGE', log, after == '' and '-' or '(' .. after, '+', 'COUNT', most_entries)
local positions, named = {}, {}
for _, entry in ipairs(entries) do
  if entry[2][1] == 'chunk' then
    positions[#positions + 1] = entry[1]
    named[#named + 1] = entry[2][2]
  end
end
if #entries == 0 then return {} end
if after == '' and entries[1][2][3] == 'after' and entries[1][2][4] ~= '' then return {'lost'} end
if redis.call('EXISTS', chunks) == 0 then return {'lost'} end
if #named == 0 then return {entries[#entries][1], '', ''} end

local function may_hold(chunk, record)
  local number = ' ' .. (chunk:match('^%d+') or '') .. ' '
  if numbers ~= '' and not numbers:find(number, 1, true) and not record:find(or_text, 1, true) then return false end
  for i = 7, #ARGV do
    if not record:find(ARGV[i], 1, true) then return false end
  end
  return true
end

local records = redis.call('HMGET', chunks, unpack(named))
local answer = {entries[#entries][1], positions[#positions], named[#named]}
for i, record in ipairs(records) do
  if record and may_hold(named[i], record) then
    for _, value in ipairs({positions[i], named[i], record}) do answer[#answer + 1] = value end
    if #answer == 3 + 3 * most_found then
      answer[1], answer[2], answer[3] = positions[i], positions[i], named[i]
      break
    end
  end
end
return answer
