package sandbox

import (
	_ "embed"
	"strings"
)

//go:embed bistro.json
var bistroJSON string

// Bistro is the hand-written demo menu: a raw menu view
// (docs/ordering-service.md, section 2.4, without envelope) of about 60 dishes
// that shows every feature of the interface.
// restaurantID is whom its stop lists name; imageBase goes before the paths
// of its images ("http://127.0.0.1:9090"; empty: paths alone).
func Bistro(restaurantID, imageBase string) []byte {
	id, base := encode(restaurantID), encode(imageBase) // as JSON text, without the quotes
	return []byte(strings.NewReplacer(
		"{{restaurant}}", string(id[1:len(id)-1]),
		"{{images}}", string(base[1:len(base)-1]),
	).Replace(bistroJSON))
}
