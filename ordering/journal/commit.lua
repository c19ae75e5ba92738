-- commit applies one transaction, or nothing of it: if a checked value has
-- changed since it was read, only the state of the connection may change (see
-- restored.lua). Every transaction on an order checks the revision at the
-- beginning of its record, and every change of a record gives it a new one. All
-- keys share the connection's hash tag. A step that fails, because a key has
-- another type, ends the script; the steps before it stay.
--
-- ARGV[1 to 9]  see restored.lua
-- ARGV[10]  the number of checks
-- ARGV[11]  "@time" as a whole argument of a step is the later of the time of the commit + ARGV[11]
-- ARGV[12]  and this time, both in milliseconds
-- ARGV[13 ..] two words for each check: last, value. The bytes 0 to last of the
--           string must be the value; with last = its length, the whole string. A string that
--           does not exist is empty. With last "new", the string must not exist; the result has it if it does.
--           With last "until", value is a time in milliseconds that must not have passed.
-- then for each step: its form, the command, its arguments after the key. The form is their number, one digit, as "2";
--           "if 2": the command runs only if the string at the key is the first argument, which is not one of the command;
--           "now 2": in each argument, the first byte 1 is replaced by the time of the commit, 15 digits.
--
-- KEYS has the state, the list of every record, the key of each check, and the key of each step.
--
-- result "1,now in milliseconds,epoch,mark,predecessors,paused,replicated,behind"  done
--        "2,the same"  rejected: new calls are paused
--        "0"  a checked value has changed
--        "0,value"  the same: a string that must be new has this value
-- Missing fields are empty; behind is "1" if Redis lacks a commit of the
-- remembered epoch. predecessors is empty if the epoch is the remembered one.
-- restored.lua runs before this in the same script. It defines call, keys, words, mode, state, now, mark, paused, less, raise
-- and result.
local checks, later, notBefore = unpack(words, 10, 12)
local keyAt, wordAt = 2, 12 -- the last key and the last word that were used
for _ = 1, tonumber(checks) do
  local last, value = words[wordAt + 1], words[wordAt + 2]
  keyAt, wordAt = keyAt + 1, wordAt + 2
  if last == "until" then
    if less(value, now) then
      return "0"
    end
  elseif last == "new" then
    local taken = call("GET", keys[keyAt])
    if taken then
      return "0," .. taken
    end
  elseif call("GETRANGE", keys[keyAt], "0", last) ~= value then
    return "0"
  end
end
if mode == "begin" and paused ~= "" then
  return result("2")
end

local at
local padded = string.sub("00000000000000" .. now, -15)
for n = keyAt + 1, #keys do
  local key, form, command = keys[n], words[wordAt + 1], words[wordAt + 2]
  local conditional, dated = #form == 4, #form == 5 -- "if 2", "now 2"
  local first, last = wordAt + 3, wordAt + 2 + string.byte(form, -1) - 48 -- tonumber takes as long as a simple command
  wordAt = last
  local runs = not conditional or call("GET", key) == words[first]
  if conditional then
    first = first + 1
  end
  for i = first, last do
    if words[i] == "@time" then
      at = at or string.format("%.0f", math.max(tonumber(now) + tonumber(later), tonumber(notBefore)))
      words[i] = at
    elseif dated then
      words[i] = string.gsub(words[i], "\1", padded, 1)
    end
  end
  if runs then
    call(command, key, unpack(words, first, last))
  end
end
if mode == "probe" then
  call("HSET", state, "mark", mark)
elseif mode ~= "watch" then
  raise()
end
return result("1")
