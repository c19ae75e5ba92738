-- Saves restrictions of a restaurant, in KEYS[1]. ARGV has pairs: a field and its new JSON, or a field and the number rev of the
-- value to delete. A value is only replaced by one with a higher rev, and only deleted if it has not changed.
local function rev(text)
  local ok, value = pcall(cjson.decode, text or '')
  return ok and type(value) == 'table' and tonumber(value.rev) or 0
end
for i = 1, #ARGV, 2 do
  local field, value = ARGV[i], ARGV[i + 1]
  local stored = redis.call('HGET', KEYS[1], field)
  if tonumber(value) then
    if stored and rev(stored) == tonumber(value) then redis.call('HDEL', KEYS[1], field) end
  elseif rev(value) > rev(stored) then
    redis.call('HSET', KEYS[1], field, value)
  end
end
return 0
