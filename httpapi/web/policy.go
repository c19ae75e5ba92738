package web

import (
	"net/http"
	"strings"
)

// Policy is the Content-Security-Policy of a page. Its zero value lets the page
// use what comes from larder's own address, and nothing else: no inline script,
// no inline style, no frame around it, no text that becomes markup.
type Policy struct {
	// Images are further origins of images, as scheme and host ("https://img.example").
	Images []string
	// Markup lets the page's scripts make markup of text (innerHTML), for
	// libraries that cannot do without; larder's own never do.
	Markup bool
}

// String is the header's value.
func (p Policy) String() string {
	images := strings.Join(append([]string{"'self'", "data:"}, p.Images...), " ")
	directives := []string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src " + images,
		"connect-src 'self'", "font-src 'self'", "manifest-src 'self'",
		"base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
	}
	if !p.Markup {
		directives = append(directives, "require-trusted-types-for 'script'", "trusted-types 'none'")
	}
	return strings.Join(directives, "; ")
}

// Set puts the policy and the other headers that every page has.
func (p Policy) Set(header http.Header) {
	header.Set("Content-Security-Policy", p.String())
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
}
