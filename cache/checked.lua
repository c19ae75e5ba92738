-- checked moves what is known of a restaurant's current version without a new
-- version: when it was last confirmed, and how the last run ended.
--
-- KEYS[1] current  hash, the restaurant's current version
-- ARGV[1] time of the check (RFC 3339, UTC, milliseconds), or "" to leave it
-- ARGV[2] outcome of the run
--
-- result 1, or 0 where there is no current version
if redis.call("EXISTS", KEYS[1]) == 0 then
  return 0
end
-- Times of one form compare as text; a late answer never moves one back.
if ARGV[1] ~= "" and ARGV[1] > (redis.call("HGET", KEYS[1], "checkedAt") or "") then
  redis.call("HSET", KEYS[1], "checkedAt", ARGV[1])
end
redis.call("HSET", KEYS[1], "lastOutcome", ARGV[2])
return 1
