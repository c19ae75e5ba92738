package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The rows of GET /sandbox/menus: so many at most, and without ?limit.
const (
	mostMenus = 500
	fewMenus  = 50
)

// ids are the names under which a menu is served and that hold the text, the
// connection's own first; at most limit of them, and how many there are in all.
func (st *menuStore) ids(search string, limit int) (ids []string, total int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	known := map[string]bool{}
	for id := range st.put {
		known[id] = true
	}
	if st.gen != nil {
		for id := range st.gen.index {
			known[id] = true
		}
	}
	search = strings.ToLower(search)
	maps.DeleteFunc(known, func(id string, _ bool) bool { return !strings.Contains(strings.ToLower(id), search) })
	ids = slices.Sorted(maps.Keys(known))
	if i := slices.Index(ids, DefaultMenu); i > 0 {
		ids = slices.Insert(slices.Delete(ids, i, i+1), 0, DefaultMenu)
	}
	return ids[:min(limit, len(ids))], len(ids)
}

// listMenus is GET /sandbox/menus?search=&limit=.
func (s *Sandbox) listMenus(c *call) answer {
	query := c.r.URL.Query()
	limit := fewMenus
	if given := query.Get("limit"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > mostMenus {
			return c.refuse(http.StatusBadRequest, "bad_limit", "limit: a number from 1 to "+strconv.Itoa(mostMenus))
		}
		limit = n
	}
	ids, total := s.menus.ids(query.Get("search"), limit)
	return result(http.StatusOK, map[string]any{"menus": ids, "total": total})
}
