package violation

import (
	"maps"
	"slices"
)

// Codes returns all violation codes that have a message.
func Codes() []Code { return slices.Collect(maps.Keys(templates)) }
