package sandbox

import (
	"embed"
	"net/http"
	"path"
	"strings"

	"larder.local/internal/sandbox/board"
)

//go:embed images/*.svg
var images embed.FS

// Images serves only the images, GET /sandbox/images/{name}.svg, for a server
// that publishes menus of a sandbox with its own image addresses.
func Images() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sandbox/images/{file}", func(w http.ResponseWriter, r *http.Request) {
		a, found := picture(r.PathValue("file"))
		if !found {
			http.NotFound(w, r)
			return
		}
		a.write(w)
	})
	return mux
}

// image handles GET /sandbox/images/{name}.svg.
func image(c *call) answer {
	if a, found := picture(c.id); found {
		return a
	}
	return c.refuse(http.StatusNotFound, "image_not_found", "there is no such image")
}

// iconPath is where browsers look for the icon of a response that declares none, such as JSON.
const iconPath = "/favicon.ico"

// icon handles GET /favicon.ico with the icon of the board.
func icon(c *call) answer {
	c.id = "burger.svg"
	return image(c)
}

func picture(name string) (answer, bool) {
	body, err := images.ReadFile(path.Join("images", path.Base(name)))
	return answer{status: http.StatusOK, body: body, header: http.Header{
		"Content-Type": {"image/svg+xml"}, "Cache-Control": {"public, max-age=86400"},
		"Content-Security-Policy": {"default-src 'none'"}, // an image opened directly runs no scripts
	}}, err == nil
}

//go:embed bistro.json
var bistroJSON string

// Bistro is the demo menu: a menu view without envelope (docs/ordering-service.md, section 2.4) of
// about 60 dishes that uses every feature of the interface. restaurantID is the id in its stop
// lists; imageBase is the prefix of its image paths, such as "http://127.0.0.1:9090".
func Bistro(restaurantID, imageBase string) []byte {
	id, base := encode(restaurantID), encode(imageBase) // as JSON text, without the quotes
	return []byte(strings.NewReplacer(
		"{{restaurant}}", string(id[1:len(id)-1]),
		"{{images}}", string(base[1:len(base)-1]),
	).Replace(bistroJSON))
}

// page returns the board's page with its Content-Security-Policy.
func page() answer {
	a, _ := file(board.Page)
	header := a.header
	header.Set("Content-Security-Policy", board.Policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Vary", "Accept")
	return a
}

// boardFile handles GET /sandbox/board/{name}.
func boardFile(c *call) answer {
	if a, found := file(c.id); found && c.id != board.Page {
		return a
	}
	return c.refuse(http.StatusNotFound, "file_not_found", "the board has no such file")
}

func file(name string) (answer, bool) {
	body, kind, found := board.File(name)
	return answer{status: http.StatusOK, body: body, header: http.Header{
		"Content-Type":                 {kind},
		"X-Content-Type-Options":       {"nosniff"},
		"Cache-Control":                {"no-cache"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
	}}, found
}
