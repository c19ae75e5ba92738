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
