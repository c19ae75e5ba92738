package sandbox

import (
	"embed"
	"net/http"
	"path"
	"strings"

	"larder/internal/sandbox/board"
)

//go:embed images/*.svg
var images embed.FS

// imageNames are the embedded pictures, without their ".svg".
func imageNames() []string {
	return []string{
		"bowl", "bread", "burger", "cake", "coffee", "combo", "drink", "dumplings",
		"fish", "grill", "noodles", "pizza", "salad", "soup", "sushi", "wrap",
	}
}

// Images serves the pictures alone, GET /sandbox/images/{name}.svg, for who
// serves a sandbox's menus and wants their photos from one address.
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

// image is GET /sandbox/images/{name}.svg.
func image(c *call) answer {
	if a, found := picture(c.id); found {
		return a
	}
	return c.refuse(http.StatusNotFound, "image_not_found", "there is no such image")
}

func picture(name string) (answer, bool) {
	body, err := images.ReadFile(path.Join("images", path.Base(name)))
	return answer{status: http.StatusOK, body: body, header: http.Header{
		"Content-Type": {"image/svg+xml"}, "Cache-Control": {"public, max-age=86400"},
		"Content-Security-Policy": {"default-src 'none'"}, // a picture opened by itself runs nothing
	}}, err == nil
}

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

// page is the board's page, with the policy that keeps it to this address.
func page() answer {
	a, _ := file(board.Page)
	header := a.header
	header.Set("Content-Security-Policy", board.Policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Vary", "Accept")
	return a
}

// boardFile is GET /sandbox/board/{name}: what the page loads.
func boardFile(c *call) answer {
	if a, found := file(c.id); found && c.id != board.Page {
		return a
	}
	return c.refuse(http.StatusNotFound, "file_not_found", "the board has no such file")
}

func file(name string) (answer, bool) {
	body, kind, found := board.File(name)
	return answer{status: http.StatusOK, body: body, header: http.Header{
		"Content-Type": {kind}, "X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"no-cache"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
	}}, found
}
