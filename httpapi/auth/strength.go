package auth

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/trustelem/zxcvbn"
)

const (
	minGuesses = 1e14 // of a secret if other machines can reach larder (policy H8)
	estimated  = 100  // bytes of a secret that are estimated
	leastRest  = 8    // bytes of a secret that are no words of placeholders
	quick      = 24   // bytes that suffice for a random secret; the estimate of a long text is slow
)

// tradeWords are words that secrets of a restaurant's larder often have.
var tradeWords = strings.Fields( //nolint:gochecknoglobals // constant
	`access admin administrator api auth backend bistro browser cafe change changeme client connect
	console credential default delivery demo dev dish example food guest key kitchen larder letmein local login menu my online
	operator ops order orders pass passw0rd password pizza pos prod production public restaurant secret server service shop sign
	signing staging store storefront super test token user web welcome your пароль ресторан секрет`)

// withoutWords removes the words of examples and placeholders, and what stands between words.
var withoutWords = func() *strings.Replacer { //nolint:gochecknoglobals // constant
	words := append(strings.Fields(`and battery change choose company correct enter fill goes here horse insert long must not please
		put random real replace safe secure set some staple strong text that the this todo value very with you - _ . / : + ! < >`), tradeWords...)
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	pairs := []string{" ", ""}
	for _, word := range words {
		pairs = append(pairs, word, "")
	}
	return strings.NewReplacer(pairs...)
}()

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
	case len(withoutWords.Replace(strings.ToLower(start))) < leastRest:
		return "can be guessed: it consists of words of examples and placeholders"
	case sameSteps([]byte(strings.ToLower(start))) || sameSteps(fromHex(start)):
		return "can be guessed: its characters follow one another in equal steps"
	default:
		return ""
	}
}

// guesses estimates how many guesses find the first bytes of a secret.
func guesses(secret, id string, length int) float64 {
	text := strings.ToValidUTF8(secret[:min(length, len(secret))], "")
	return zxcvbn.PasswordStrength(text, append([]string{strings.ToLower(id)}, tradeWords...)).Guesses
}

// fromHex returns the bytes of a text in hexadecimal, or nothing.
func fromHex(text string) []byte {
	decoded, err := hex.DecodeString(text)
	if err != nil {
		return nil
	}
	return decoded
}

// sameSteps reports whether each byte is followed by one in the same distance.
func sameSteps(text []byte) bool {
	for i := 2; i < len(text); i++ {
		if text[i]-text[i-1] != text[1]-text[0] {
			return false
		}
	}
	return len(text) > 2
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
