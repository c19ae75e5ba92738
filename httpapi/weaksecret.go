package httpapi

import (
	"slices"
	"strconv"
	"strings"
)

// weakness says what is wrong with a secret of at least `least` bytes, empty
// where nothing is. It cannot measure randomness; it finds what people type
// and what examples contain. Policy H8.
func weakness(secret, id string, least int) string {
	plain := withoutSeparators(secret)
	switch {
	case len(secret) < least:
		return "is shorter than " + strconv.Itoa(least) + " bytes"
	case id != "" && strings.EqualFold(secret, id+"-secret"):
		return `is the id and "-secret", as the demo's secrets are`
	case len(unit(secret)) < least && len(unit(secret)) < len(secret):
		return "repeats a text of fewer than " + strconv.Itoa(least) + " bytes"
	case slices.Contains(wellKnown(), unit(plain)):
		return "is a well-known secret"
	default:
		return ""
	}
}

// unit returns the text that s repeats, the last time perhaps in part; s itself
// where it does not repeat one at least twice.
func unit(s string) string {
	for n := 1; 2*n <= len(s); n++ {
		if s[n:] == s[:len(s)-n] {
			return s[:n]
		}
	}
	return s
}

// withoutSeparators returns the lower-case letters and digits of a text.
func withoutSeparators(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// wellKnown are secrets of examples, tutorials and keyboards, without
// separators. Shorter ones are rejected by their length.
func wellKnown() []string {
	return []string{
		"0123456789abcdef", "1234567890abcdef", "0123456789012345", "1234567890123456", "abcdefghijklmnop",
		"abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfgh", "qwertyuiopasdfghjkl", "qwertyuiopasdfghjklzxcvbnm",
		"youropssecret", "yourclientsecret", "yourclientsecrethere", "yoursecrethere", "yoursecretkeyhere", "your256bitsecret",
		"myclientsecret", "mysecretpassword", "mysupersecretkey", "supersecretkey", "supersecretpassword", "thisisasecret",
		"thisisasecretkey", "changethissecret", "changemeplease", "pleasechangeme", "replacethissecret", "replacemeplease",
		"storefrontsecret", "clientsecrethere", "notasecret", "correcthorsebatterystaple", "passwordpassword1",
		"administrator123", "changeme12345678", "password12345678", "secret1234567890", "insertsecrethere", "topsecretpassword",
	}
}
