-- Close the batch to new chunks, if all of them are here. ARGV: how many there are
local state = redis.call('HMGET', meta, 'chunks', 'sealed', 'closing')
if not state[1] then return {'lost'} end
if state[2] == '1' then return {'same'} end
if state[3] ~= '' then return {'closed'} end
if tonumber(state[1]) ~= tonumber(ARGV[1]) then return {'gap', tonumber(state[1])} end
go_on_when_full()
redis.call('HSET', meta, 'sealed', '1', 'status', 'in_progress')
finish_if_done()
return {'new'}
