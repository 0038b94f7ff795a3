-- Replace a chunk that a child died on by its parts. ARGV: chunk, token, parts (JSON [[chunk, jobs]...]),
-- the suspect part or '', the job's place on its line, limit, verdict on the job
if redis.call('HGET', claims, ARGV[1]) ~= ARGV[2] then return 0 end
if redis.call('ZREM', open, ARGV[1]) == 0 then return 0 end
redis.call('HDEL', claims, ARGV[1])
redis.call('HINCRBY', meta, 'total', replace_in_open(ARGV[1], ARGV[3]))
keep(sizes, open)
if ARGV[4] ~= '' then strike(ARGV[4], ARGV[5], ARGV[6], ARGV[7]) end
return 1
