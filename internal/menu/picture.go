package menu

import "regexp"

var (
	// foreignPicture matches http(s) addresses with a host and without a user.
	foreignPicture = regexp.MustCompile(`^(?i:https?)://[\w.-]+(:\d+)?([/?#][^\p{Cc}\p{Cf}\\]*)?$`)
	// ownPicture matches paths on the page's own origin.
	ownPicture = regexp.MustCompile(`^(/[^/\p{Cc}\p{Cf}\\]+)+$`)
	dotSegment = regexp.MustCompile(`(?i)/(\.|%2e)`)
)

// SafePicture returns the address of a picture, or "" if a page must not contain it (policy H13). picture.ts has the same
// rule for browsers.
func SafePicture(address string) string {
	if foreignPicture.MatchString(address) || ownPicture.MatchString(address) && !dotSegment.MatchString(address) {
		return address
	}
	return ""
}
