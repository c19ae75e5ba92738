-- mirror copies the current version of a source to the documented key if this source
-- published last (policy O16). Go prepends it to the scripts that change current.
--
-- own       hash, the current version of the source
-- published hash, the documented current version; the same key without sources
local function mirror(own, published)
  if own ~= published and redis.call("HGET", own, "source") == redis.call("HGET", published, "source") then
    redis.call("COPY", own, published, "REPLACE")
  end
end
