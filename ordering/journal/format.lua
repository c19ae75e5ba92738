-- unreadable returns an error if a connection has records that this version of larder cannot read (policy O20). A journal is
-- new only if its state has neither an epoch nor a format, and there are no records.
local function unreadable(state, orders)
  local kept = redis.call("HMGET", state, "epoch", "format")
  if kept[2] ~= "3" and (kept[1] or kept[2] or redis.call("EXISTS", orders) == 1) then
    local found = redis.call("EXISTS", state) == 1 and "no format" or "no key " .. state
    if kept[2] then
      found = 'format "' .. string.gsub(string.sub(kept[2], 1, 20), "[^%w ]", "?") .. '"'
    end
    return redis.error_reply("FORMAT " .. found)
  end
end
