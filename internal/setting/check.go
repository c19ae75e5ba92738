package setting

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Index spells one element of a list in the configuration.
func Index(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }

// OneOf reports a value that is none of those that its key takes.
func OneOf[T ~string](key string, value T, values ...T) error {
	if slices.Contains(values, value) {
		return nil
	}
	names := make([]string, len(values))
	for i, name := range values {
		names[i] = string(name)
	}
	return Errorf(key, "%q is none of %s", string(value), strings.Join(names, ", "))
}

// Origin reports what a browser would never send as Origin.
func Origin(key, origin string) error {
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Scheme+"://"+u.Host != origin {
		return Errorf(key, "%q is no origin; write scheme and host alone, as https://shop.example", origin)
	}
	return nil
}
