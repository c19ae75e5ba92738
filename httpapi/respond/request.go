package respond

import (
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/oklog/ulid/v2"
	bcp47 "golang.org/x/text/language"

	"larder.local/internal/jsontext"
	"larder.local/ordering/violation"
)

const maxSearch = 200 // bytes of ?q=

// Param returns a path parameter, unescaped. Gin matches the raw path if there is one, and the decoded path otherwise.
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

// InvalidParameter returns the problem of a query parameter or field.
func InvalidParameter(name, msg string) error {
	return &Problem{Code: CodeInvalidParameter, Msg: name + " " + msg, Params: map[string]any{"parameter": name}}
}

// OneOf reads a query parameter that must be one of the values. It returns "" if it is missing.
func OneOf[T ~string](c *gin.Context, name string, values []T) (T, error) {
	value := T(c.Query(name))
	if value != "" && !slices.Contains(values, value) {
		return "", InvalidParameter(name, "must be one of "+Join(values, ", "))
	}
	return value, nil
}

// SearchText reads ?q=.
func SearchText(c *gin.Context) (string, error) {
	text := c.Query("q")
	if len(text) > maxSearch {
		return "", InvalidParameter("q", "must not be longer than "+strconv.Itoa(maxSearch)+" bytes")
	}
	return text, nil
}

// Join is strings.Join for any string type.
func Join[T ~string](values []T, separator string) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return strings.Join(texts, separator)
}

// VersionNumber parses the number of a version.
func VersionNumber(name, text string) (int64, error) {
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return 0, InvalidParameter(name, "must be a version number, 1 or higher")
	}
	return version, nil
}

// HeaderRequestID is the header of the request id, in requests and responses.
const HeaderRequestID = "X-Request-Id"

const maxRequestID = 128

// RequestIDFrom returns the caller's X-Request-Id if it is valid (1 to 128 visible ASCII characters), else a new ULID.
func RequestIDFrom(sent string) string {
	if ValidRequestID(sent) {
		return sent
	}
	return string(AppendRequestID(make([]byte, 0, ulid.EncodedSize)))
}

// AppendRequestID appends a new ULID without allocating, because every read on the fast path
// needs one. It must be unique, not unpredictable.
func AppendRequestID(dst []byte) []byte {
	var id ulid.ULID
	_ = id.SetTime(ulid.Now()) // fits until the year 10889
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	binary.BigEndian.PutUint16(id[6:], uint16(rand.Uint32()))
	text := append(dst, make([]byte, ulid.EncodedSize)...)
	_ = id.MarshalTextTo(text[len(dst):]) // cannot fail: the length is correct
	return text
}

// ValidRequestID reports whether a caller's id may be used.
func ValidRequestID(id string) bool { return id != "" && len(id) <= maxRequestID && isASCII(id, '!') }

// isASCII reports whether a text has only printable ASCII characters from the given one: a
// space, or "!" for visible characters.
func isASCII(text string, from rune) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < from || r > '~' })
}

// RequestID returns the request's id, which instrument has set in the response header.
func RequestID(c *gin.Context) string { return c.Writer.Header().Get(HeaderRequestID) }

const (
	headerKey = "Idempotency-Key"
	maxKey    = 255
	// minPublicKey is the shortest key that can have 128 random bits in base64. A guest's key
	// is the only protection of the order's state (policy H3).
	minPublicKey = 22
)

// IdempotencyKey reads the key of a request: 1 to 255 printable characters, with or without quotes (policy
// O7). It returns "" if the key is missing and not required. guest means that the request has no token.
func IdempotencyKey(c *gin.Context, required, guest bool) (string, error) {
	sent := c.Request.Header.Values(headerKey)
	switch {
	case len(sent) > 1:
		return "", keyRequired("send only one Idempotency-Key header")
	case len(sent) == 1:
		key, wrong := BareKey(sent[0], guest)
		if wrong != "" {
			return "", keyRequired("the Idempotency-Key " + wrong)
		}
		return key, nil
	case required || guest:
		return "", keyRequired("send an Idempotency-Key header: a new random key for each order, and the same key to repeat a request")
	default:
		return "", nil
	}
}

func keyRequired(msg string) error {
	return &Problem{Code: CodeIdempotencyKeyRequired, Msg: msg}
}

// BareKey removes the quotes of a key. wrong is the reason if the key is invalid.
func BareKey(sent string, guest bool) (key, wrong string) {
	key = strings.TrimSpace(sent)
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	switch {
	case key == "" || len(key) > maxKey || !isASCII(key, ' '):
		return "", "must have 1 to 255 printable ASCII characters"
	case guest && len(key) < minPublicKey:
		return "", "must have at least 22 characters (128 random bits) in requests without a token"
	default:
		return key, ""
	}
}

// maxAcceptLanguage is larger than the header of any browser, in bytes.
const maxAcceptLanguage = 1024

// Language selects the language of messages, "en" or "ru", by Accept-Language; the default is English. Regional
// variants count as their language (ru-KZ), related languages do not: Ukrainian is not answered in Russian.
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

// VaryByLanguage is the middleware of routes whose responses depend on Accept-Language.
func VaryByLanguage(c *gin.Context) { c.Writer.Header().Add("Vary", "Accept-Language") }

// WithLanguage sets Content-Language if err has violations, whose messages are in the requested
// language. The rest of a problem document is English.
func WithLanguage(c *gin.Context, err error) error {
	if ProblemOf(err).Violations != nil {
		c.Header("Content-Language", Language(c))
	}
	return err
}

// Period reads ?from= and ?to=, which is excluded. A missing one is zero.
func Period(c *gin.Context) (from, to time.Time, err error) {
	for name, at := range map[string]*time.Time{"from": &from, "to": &to} {
		if text := c.Query(name); text != "" {
			if *at, err = time.Parse(time.RFC3339, text); err != nil || at.UnixMilli() <= 0 {
				return from, to, InvalidParameter(name, "must be a time after 1970, such as 2026-11-20T00:00:00Z")
			}
		}
	}
	if !to.IsZero() && !from.Before(to) {
		return from, to, InvalidParameter("to", "must be after from")
	}
	return from, to, nil
}

const (
	// MaxPage is the largest ?limit= of a list.
	MaxPage     = 500
	defaultPage = 50
	maxCursor   = 2048 // bytes
)

// PageOf reads ?limit= and ?cursor=. position is the value that NextPage encoded, or "" for the first page.
func PageOf(c *gin.Context) (limit int, position string, err error) {
	limit = defaultPage
	if text, given := c.GetQuery("limit"); given {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > MaxPage {
			return 0, "", InvalidParameter("limit", "must be an integer between 1 and "+strconv.Itoa(MaxPage))
		}
	}
	cursor := c.Query("cursor")
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(cursor) > maxCursor || !utf8.Valid(raw) {
		return 0, "", BadCursor()
	}
	return limit, string(raw), nil
}

// BadCursor rejects a ?cursor= that no list has returned.
func BadCursor() error {
	return InvalidParameter("cursor", "must be the next value of an earlier page; omit it to get the first page")
}

// Page is the response of every list route.
type Page[T any] struct {
	Result []T     `json:"result"`
	Next   *string `json:"next"`
}

// AppendNext appends the end of a Page after its last element.
func AppendNext(dst []byte, position string) []byte {
	dst = append(dst, `],"next":`...)
	return append(jsontext.AppendStringOrNull(dst, base64.RawURLEncoding.EncodeToString([]byte(position))), '}')
}

// NextPage returns the cursor of the next page, or nil after the last.
func NextPage(position string) *string {
	return OrNull(base64.RawURLEncoding.EncodeToString([]byte(position)))
}
