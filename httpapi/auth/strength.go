package auth

import (
	"strconv"
	"strings"

	"github.com/trustelem/zxcvbn"
)

const (
	minGuesses = 1e14 // of a secret if other machines can reach larder (policy H8)
	estimated  = 100  // bytes of a secret that are estimated
	quick      = 24   // bytes that suffice for a random secret; the estimate of a long text is slow
)

// tradeWords are words that secrets of a restaurant's larder often have.
var tradeWords = strings.Fields( //nolint:gochecknoglobals // constant
	`access admin administrator api auth backend bistro browser cafe change changeme client connect
	console credential default delivery demo dev dish example food guest key kitchen larder letmein local login menu my online
	operator ops order orders pass passw0rd password pizza pos prod production public restaurant secret server service shop sign
	signing staging store storefront super test token user web welcome your пароль ресторан секрет`)

// weakness returns what is wrong with a secret, or "" (policy H8). It cannot measure randomness: it finds secrets that are
// shorter than minLength, repeat a short text, or can be guessed from words, names, dates and rows of keys.
func weakness(secret, id string, minLength int) string {
	start := secret[:min(estimated, len(secret))]
	unit := len(repeatedUnit(start))
	switch {
	case len(secret) < minLength:
		return "is shorter than " + strconv.Itoa(minLength) + " bytes"
	case unit < minLength && unit < len(start):
		return "repeats a text of fewer than " + strconv.Itoa(minLength) + " bytes"
	case guesses(secret, id, quick) < minGuesses && guesses(secret, id, estimated) < minGuesses:
		return "can be guessed: it has words, names, dates, repeated characters or rows of keys, and too little else"
	default:
		return ""
	}
}

// guesses estimates how many guesses find the first bytes of a secret.
func guesses(secret, id string, length int) float64 {
	text := strings.ToValidUTF8(secret[:min(length, len(secret))], "")
	return zxcvbn.PasswordStrength(text, append([]string{strings.ToLower(id)}, tradeWords...)).Guesses
}

// repeatedUnit returns the shortest text whose repetition is s, or s. The last one may be partial.
func repeatedUnit(s string) string {
	for n := 1; 2*n <= len(s); n++ {
		if s[n:] == s[:len(s)-n] {
			return s[:n]
		}
	}
	return s
}
