package respond

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	bcp47 "golang.org/x/text/language"

	"larder/ordering/violation"
)

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
