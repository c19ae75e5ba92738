package respond

import (
	"encoding/binary"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/oklog/ulid/v2"
	bcp47 "golang.org/x/text/language"

	"larder/ordering/violation"
)

const maxSearch = 200 // bytes of ?q=

// Param is a path parameter, unescaped. Gin matches the raw path where the
// escaping matters and the decoded one elsewhere.
func Param(c *gin.Context, name string) string {
	value := c.Param(name)
	if c.Request.URL.RawPath == "" {
		return value
	}
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
}

// InvalidParameter refuses a query parameter.
func InvalidParameter(name, msg string) error {
	return &Problem{Code: CodeInvalidParameter, Msg: name + " " + msg, Params: map[string]any{"parameter": name}}
}

// OneOf reads a query parameter that takes one of the values, "" where it is
// missing.
func OneOf[T ~string](c *gin.Context, name string, values []T) (T, error) {
	value := T(c.Query(name))
	if value != "" && !slices.Contains(values, value) {
		return "", InvalidParameter(name, "is one of "+join(values, ", "))
	}
	return value, nil
}

// SearchText reads ?q=.
func SearchText(c *gin.Context) (string, error) {
	text := c.Query("q")
	if len(text) > maxSearch {
		return "", InvalidParameter("q", "is longer than "+strconv.Itoa(maxSearch)+" bytes")
	}
	return text, nil
}

// join is strings.Join for any kind of strings.
func join[T ~string](values []T, separator string) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return strings.Join(texts, separator)
}

// VersionNumber reads the number of a version.
func VersionNumber(name, text string) (int64, error) {
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return 0, InvalidParameter(name, "is the number of a version, from 1")
	}
	return version, nil
}

// HeaderRequestID names a request, in the request and in its answer.
const HeaderRequestID = "X-Request-Id"

const maxRequestID = 128

// RequestIDFrom takes the caller's X-Request-Id if it is sane (1 to 128 visible
// ASCII characters), else makes a ULID.
func RequestIDFrom(sent string) string {
	if ValidRequestID(sent) {
		return sent
	}
	return string(AppendRequestID(make([]byte, 0, ulid.EncodedSize)))
}

// AppendRequestID appends a new ULID. Reads on the fast path make one each, so it
// allocates nothing. It need not be kept from guessing, only differ each time.
func AppendRequestID(dst []byte) []byte {
	var id ulid.ULID
	_ = id.SetTime(ulid.Now())                                // fits until the year 10889
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())         //nolint:gosec // no secret
	binary.BigEndian.PutUint16(id[6:], uint16(rand.Uint32())) //nolint:gosec // no secret
	text := append(dst, make([]byte, ulid.EncodedSize)...)
	_ = id.MarshalTextTo(text[len(dst):]) // as long as it must be
	return text
}

// ValidRequestID reports whether an id that a caller sent may be used as it is.
func ValidRequestID(id string) bool { return id != "" && len(id) <= maxRequestID && IsASCII(id, '!') }

// IsASCII reports whether a text has printable ASCII characters alone, from the
// one given: a space, or "!" for visible ones.
func IsASCII(text string, from byte) bool {
	for i := range len(text) {
		if text[i] < from || text[i] > '~' {
			return false
		}
	}
	return true
}

// RequestID is the request's id, which the edge has put into the answer's header.
func RequestID(c *gin.Context) string { return c.Writer.Header().Get(HeaderRequestID) }

const (
	headerKey = "Idempotency-Key"
	maxKey    = 255
	// minPublicKey is the shortest key that can hold 128 random bits, in
	// base64. A guest's key is all that protects the order's state (policy H3).
	minPublicKey = 22
)

// IdempotencyKey reads the key of a request that changes something: 1 to 255
// printable characters, bare or quoted (policy O7). "" only where none is
// required and none was sent. guest is whether the request has no token.
func IdempotencyKey(c *gin.Context, required, guest bool) (string, error) {
	sent := c.Request.Header.Values(headerKey)
	switch {
	case len(sent) > 1:
		return "", keyRequired("send one Idempotency-Key, not several")
	case len(sent) == 1:
		key, wrong := BareKey(sent[0], guest)
		if wrong != "" {
			return "", keyRequired("the Idempotency-Key " + wrong)
		}
		return key, nil
	case required || guest:
		return "", keyRequired("send an Idempotency-Key: a new random one for each order, and the same one again to learn what became of it")
	default:
		return "", nil
	}
}

func keyRequired(msg string) error {
	return &Problem{Code: CodeIdempotencyKeyRequired, Msg: msg}
}

// BareKey strips the quotes of a key; wrong says what is wrong with it.
func BareKey(sent string, guest bool) (key, wrong string) {
	key = strings.TrimSpace(sent)
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	switch {
	case key == "" || len(key) > maxKey || !IsASCII(key, ' '):
		return "", "has 1 to 255 printable ASCII characters"
	case guest && len(key) < minPublicKey:
		return "", "has at least 128 random bits where there is no token: 22 characters or more"
	default:
		return key, ""
	}
}

// maxAcceptLanguage is more than any browser sends, in bytes.
const maxAcceptLanguage = 1024

// Language chooses what the sentences for a person are written in, "en" or
// "ru", by the request's Accept-Language; English for everyone else. A variety
// counts as its language (ru-KZ), a neighbour of a language does not: who asks
// for Ukrainian has not asked for Russian.
func Language(c *gin.Context) string {
	asked := strings.Join(c.Request.Header["Accept-Language"], ",")
	if asked == "" || len(asked) > maxAcceptLanguage {
		return violation.English
	}
	tags, _, err := bcp47.ParseAcceptLanguage(asked) // by weight, without those of weight 0
	if err != nil {
		return violation.English
	}
	for _, tag := range tags {
		if base, sure := tag.Base(); sure == bcp47.Exact && slices.Contains(violation.Languages(), base.String()) {
			return base.String()
		}
	}
	return violation.English
}

// VaryByLanguage is the layer of routes whose answers are in the language asked for.
func VaryByLanguage(c *gin.Context) { c.Writer.Header().Add("Vary", "Accept-Language") }

// WithLanguage names the language of the answer if err has violations, which are
// in the one asked for; the rest of a problem document is English.
func WithLanguage(c *gin.Context, err error) error {
	if ProblemOf(err).Violations != nil {
		c.Header("Content-Language", Language(c))
	}
	return err
}
