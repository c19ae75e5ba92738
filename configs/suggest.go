package configs

import "strings"

// Nearest gives the known name that a mistyped one most likely meant, or "".
// It costs O(known × length²).
func Nearest(name string, known []string) string {
	best, bestDistance := "", len(name)/2+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// isTypo reports whether name is so close to known that it must be a misspelling
// of it: the same but for case, or at most one letter in three and two in all
// wrong. It is stricter than Nearest, since a new key often resembles an old one.
func isTypo(name, known string) bool {
	return known != "" && distance(strings.ToLower(name), strings.ToLower(known)) <= min(len(name)/3, 2)
}

// removedKeys has the settings that earlier versions had, each with what replaces
// it. One of these is always an error: what it asked for would silently not happen.
var removedKeys = map[string]string{ //nolint:gochecknoglobals // constant
	"redis.data_dir": "larder starts no redis-server any more, and a Redis service keeps its data where its own configuration says; remove the key",
}

// distance is the number of letters to insert, delete, replace or swap with
// their neighbour that make a into b.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
