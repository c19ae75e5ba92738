package menus

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"larder.local/cache/encoded"
	"larder.local/httpapi/respond"
	"larder.local/internal/jsontext"
	"larder.local/internal/menu"
)

// Products answers GET /v1/restaurants/{restaurant}/products: the dishes that match ?category=,
// ?q=, ?ids= and ?available=true, in menu order; with ?expand=groups, with their groups and options.
func (h *Handlers) Products(c *gin.Context) error {
	snapshot, err := h.snapshot(c)
	if err != nil {
		return err
	}
	query, err := productQuery(c, snapshot.Catalogue)
	if err != nil {
		return err
	}
	if err := requireIdentity(c); err != nil {
		return err
	}
	value, expand := c.GetQuery("expand")
	if expand && value != "groups" {
		return respond.InvalidParameter("expand", "must be groups")
	}
	if err := h.turns.Acquire(c.Request.Context(), 1); err != nil {
		return err
	}
	body := productsPage(snapshot.Catalogue, query, expand)
	h.turns.Release(1)
	etag := `W/"` + strconv.FormatInt(snapshot.Version.Version, 10) + "-" + BodyHash(body) + `"`
	return h.answerVersion(c, snapshot, snapshot.ModifiedAt, &encoded.Representation{Body: body, ETag: etag})
}

func productsPage(catalogue *menu.Catalogue, query menu.Query, expand bool) []byte {
	hits, next := catalogue.Search(query)
	body := append(make([]byte, 0, 1024*(len(hits)+1)), `{"result":[`...)
	if expand {
		body, next = appendForms(body, catalogue, hits, next)
	} else {
		for i, hit := range hits {
			body = catalogue.AppendProductEntry(jsontext.AppendComma(body, i), hit)
		}
	}
	var position string
	if next != menu.None {
		// The position and id of the last dish, so that the next page continues after it in a newer version too.
		position = strconv.Itoa(int(next)) + " " + catalogue.Products().At(next).ID()
	}
	return respond.AppendNext(body, position)
}

// maxPageOptions limits the options and groups of a page with ?expand=groups, so that it costs no more than other
// anonymous requests (policy H7).
const maxPageOptions = 1_500

// appendForms appends dishes with their groups and options. The page ends before a dish that exceeds maxPageOptions;
// the first one is cut instead. It returns the last dish of the page if there are more.
func appendForms(body []byte, catalogue *menu.Catalogue, hits []menu.Index, next menu.Index) ([]byte, menu.Index) {
	left := maxPageOptions
	for i, hit := range hits {
		before := len(body)
		body, left = catalogue.AppendProductForm(jsontext.AppendComma(body, i), hit, left)
		switch {
		case left >= 0:
		case i > 0:
			return body[:before], hits[i-1]
		case len(hits) > 1:
			return body, hit
		}
	}
	return body, next
}

// productIDs reads ?ids=, which may be repeated. Each value is an id, or a list of ids with commas between them.
func productIDs(c *gin.Context, catalogue *menu.Catalogue) (ids []string, err error) {
	for _, value := range c.QueryArray("ids") {
		if _, isID := catalogue.Products().ByID(value); isID {
			ids = append(ids, value)
		} else {
			ids = append(ids, strings.Split(value, ",")...)
		}
	}
	if len(ids) > respond.MaxPage {
		return nil, respond.InvalidParameter("ids", "must be at most "+strconv.Itoa(respond.MaxPage)+" ids")
	}
	return ids, nil
}

// productQuery reads the filters of the products list.
func productQuery(c *gin.Context, catalogue *menu.Catalogue) (menu.Query, error) {
	limit, position, err := respond.PageOf(c)
	text, tooLong := respond.SearchText(c)
	ids, tooMany := productIDs(c, catalogue)
	query := menu.Query{Category: c.Query("category"), Text: text, IDs: ids, Limit: limit, After: menu.None}
	if err = cmp.Or(err, tooLong, tooMany); err != nil {
		return query, err
	}
	if available, given := c.GetQuery("available"); given {
		if query.AvailableOnly, err = strconv.ParseBool(available); err != nil {
			return query, respond.InvalidParameter("available", "must be true or false")
		}
	}
	if position != "" {
		query.After, err = productAfter(catalogue, position)
	}
	return query, err
}

// productAfter returns the position of a cursor: the position of its dish, or the former
// position if the menu no longer has the dish.
func productAfter(catalogue *menu.Catalogue, position string) (menu.Index, error) {
	place, id, ok := strings.Cut(position, " ")
	n, err := strconv.ParseInt(place, 10, 32)
	if !ok || err != nil || n < 0 {
		return menu.None, respond.BadCursor()
	}
	if index, found := catalogue.Products().ByID(id); found {
		return index, nil
	}
	return menu.Index(min(int64(catalogue.Products().Len()), n) - 1), nil
}
