package storefront

import "testing"

// og:image and JSON-LD name pictures of the configured origins only (policy H13).
func TestForeignAllowed_H13(t *testing.T) {
	t.Parallel()
	origins := []string{"https://img.example", "https://cdn.example:8443"}
	for picture, want := range map[string][2]bool{ // with and without origins
		"https://img.example/a.png":      {true, true},
		"HTTPS://IMG.example/a.png":      {true, true},
		"https://cdn.example:8443/a.png": {true, true},
		"https://cdn.example/a.png":      {false, true},
		"https://evil.example/a.png":     {false, true},
		"https://img.example.evil/a.png": {false, true},
		"http://img.example/a.png":       {false, false},
		"/photos/a.png":                  {false, false},
		"":                               {false, false},
	} {
		if got := foreignAllowed(picture, origins); got != want[0] {
			t.Errorf("%s with origins: %v", picture, got)
		}
		if got := foreignAllowed(picture, nil); got != want[1] {
			t.Errorf("%s without origins: %v", picture, got)
		}
	}
}
