-- Read the next entries of the log with the results of their chunks and, unless chunks may follow, the batch's state then.
-- ARGV: batch, position or '', maximum number of entries, fields of `meta`...
-- Replies: the entries, the results of each (nothing for an entry without a chunk, and where there are none), the fields
-- (nothing after an entry with a chunk).
use(ARGV[1])
local after, most = ARGV[2], ARGV[3]
local entries = redis.call('XRANGE', log, after == '' and '-' or '(' .. after, '+', 'COUNT', most)
local names, is_chunk = {}, false
for i, entry in ipairs(entries) do
  is_chunk = entry[2][1] == 'chunk'
  names[i] = (is_chunk and entry[2][2] or '') .. ' results'
end
local results = #names > 0 and redis.call('HMGET', chunks, unpack(names)) or {}
return {entries, results, is_chunk and {} or redis.call('HMGET', meta, unpack(ARGV, 4))}
