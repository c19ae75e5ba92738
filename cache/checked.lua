-- checked updates the state of a restaurant's current version without a new
-- version: the time of its last confirmation, and the outcome of the last run.
-- Go prepends it to the scripts that call it.
--
-- current  hash, the restaurant's current version
-- at       time of the check (RFC 3339, UTC, milliseconds), or "" for no change
-- ahead    a time after at: stored times later than it come from a wrong clock
-- outcome  of the run
--
-- result 1, or 0 if there is no current version
local function checked(current, at, ahead, outcome)
  if redis.call("EXISTS", current) == 0 then
    return 0
  end
  -- Times of this form compare as text. A delayed call does not set an older time.
  local before = redis.call("HGET", current, "checkedAt") or ""
  if at ~= "" and (at > before or before > ahead) then
    redis.call("HSET", current, "checkedAt", at)
  end
  redis.call("HSET", current, "lastOutcome", outcome)
  return 1
end
