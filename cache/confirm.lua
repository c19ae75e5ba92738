-- confirm marks a content that a version is about to use, so that no sweep removes
-- it for a day.
--
-- KEYS[1] content  hash {view, settings, named, indexed}
-- ARGV[1] now, in milliseconds since the epoch
--
-- result {content exists 0|1, its documented hashes exist 0|1}
if redis.call("EXISTS", KEYS[1]) == 0 then
  return {0, 0}
end
redis.call("HSET", KEYS[1], "named", ARGV[1])
return {1, redis.call("HEXISTS", KEYS[1], "indexed")}
