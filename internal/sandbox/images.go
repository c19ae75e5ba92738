package sandbox

import (
	"embed"
	"net/http"
	"path"
	"slices"
	"strings"
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
		name, _ := strings.CutSuffix(r.PathValue("file"), ".svg")
		if !slices.Contains(imageNames(), name) {
			http.NotFound(w, r)
			return
		}
		header := w.Header()
		header.Set("Cache-Control", "public, max-age=86400")
		header.Set("Content-Security-Policy", "default-src 'none'")      // a picture opened by itself runs nothing
		http.ServeFileFS(w, r, images, path.Join("images", name+".svg")) //nolint:gosec // G703: the files are embedded
	})
	return mux
}

// image is GET /sandbox/images/{name}.svg.
func (s *Sandbox) image(c *call) answer {
	if name, ok := strings.CutSuffix(c.id, ".svg"); ok && slices.Contains(imageNames(), name) {
		if picture, err := images.ReadFile(path.Join("images", c.id)); err == nil {
			return answer{
				status: http.StatusOK, body: picture,
				header: http.Header{"Content-Type": {"image/svg+xml"}, "Cache-Control": {"public, max-age=86400"}},
			}
		}
	}
	return c.refuse(http.StatusNotFound, "image_not_found", "there is no such image")
}
