package runlog

import (
	"embed"

	"github.com/redis/go-redis/v9"
)

//go:embed appendrun.lua orphan.lua batchdone.lua
var logLua embed.FS

// The Lua scripts of the Log. Each is one step on the keys of one restaurant or
// of one batch. They get a bool as 1 or 0.
var (
	orphanScript    = redis.NewScript(AppendLua() + logScript("orphan.lua")) //nolint:gochecknoglobals // constant
	batchDoneScript = redis.NewScript(logScript("batchdone.lua"))            //nolint:gochecknoglobals // constant
)

// AppendLua returns the text of the Lua function that writes a finished run, for
// the script that ends one.
func AppendLua() string { return logScript("appendrun.lua") }

func logScript(name string) string {
	text, err := logLua.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}
