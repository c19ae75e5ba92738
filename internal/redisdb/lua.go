package redisdb

import (
	"embed"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Lua returns the text of an embedded script.
func Lua(files embed.FS, name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// Script returns the script of an embedded file, with the functions that it calls before it.
func Script(files embed.FS, name string, functions ...string) *redis.Script {
	return redis.NewScript(strings.Join(functions, "") + Lua(files, name))
}
