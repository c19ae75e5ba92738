package sandbox

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// menuView handles GET /orders/api/v1/menu/view (docs/ordering-service.md, section 4.6).
func (s *Sandbox) menuView(c *call) answer {
	restaurant := DefaultMenu
	for name, values := range c.r.URL.Query() {
		if fold(name) == "restaurantid" && len(values) > 0 && values[0] != "" {
			restaurant = values[0]
		}
	}
	f, err := s.menus.menu(restaurant)
	if err != nil {
		return c.refuse(http.StatusNotFound, "menu_not_found", err.Error())
	}
	settings := s.settings.get()
	a := jsonAnswer(http.StatusOK, restyled(f.published(), settings)).with("Vary", "Accept-Encoding")
	if *settings.Validators {
		sum := sha256.Sum256(a.body)
		etag := `W/"` + hex.EncodeToString(sum[:8]) + `"`
		a = a.with("ETag", etag)
		if slices.Contains(split(c.r.Header.Get("If-None-Match")), etag) {
			a.status, a.body = http.StatusNotModified, nil
			return a
		}
	}
	if packs(c.r.Header.Get("Accept-Encoding")) {
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // no errors: the level is valid, and it writes to memory
		_, _ = w.Write(a.body)
		_ = w.Close()
		a.body = packed.Bytes()
		return a.with("Content-Encoding", "gzip")
	}
	return a
}

func split(list string) []string {
	var parts []string
	for part := range strings.SplitSeq(list, ",") {
		parts = append(parts, strings.TrimSpace(part))
	}
	return parts
}

// packs reports whether a client accepts gzip.
func packs(accept string) bool {
	for _, part := range split(accept) {
		coding, q, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			return strings.Trim(strings.TrimSpace(q), "q=0. ") != "" || strings.TrimSpace(q) == ""
		}
	}
	return false
}

func (st *menuStore) putMenu(c *call) answer {
	wellFormed, name := json.Valid(bytes.TrimPrefix(c.body, []byte(byteOrderMark))), ""
	if last, err := st.menu(c.id); err == nil && !wellFormed {
		name = last.name()
	}
	st.set(c.id, c.body, name)
	return result(http.StatusOK, map[string]any{"restaurantID": c.id, "bytes": len(c.body), "wellFormed": wellFormed})
}

// showMenu returns the bytes as they were put, in the envelope, so that the response can be put again.
func (st *menuStore) showMenu(c *call) answer {
	f, err := st.menu(c.id)
	if err != nil {
		return c.refuse(http.StatusNotFound, "menu_not_found", err.Error())
	}
	return jsonAnswer(http.StatusOK, f.published())
}

// patchStops handles PATCH /sandbox/stop-list/{restaurantId}.
func (st *menuStore) patchStops(c *call) answer {
	var given map[string]*bool
	if err := decodeStrict(c.body, &given); err != nil {
		return c.refuse(http.StatusBadRequest, "bad_stop_list", err.Error())
	}
	stops := make(map[string]bool, len(given))
	for id, on := range given {
		if on == nil {
			return c.refuse(http.StatusBadRequest, "bad_stop_list", id+": true or false")
		}
		stops[id] = *on
	}
	unknown, err := st.patch(c.id, stops)
	switch {
	case errors.Is(err, errNoMenu):
		return c.refuse(http.StatusNotFound, "menu_not_found", err.Error())
	case err != nil:
		return c.refuse(http.StatusConflict, "menu_malformed", err.Error())
	case len(unknown) > 0:
		slices.Sort(unknown)
		return c.refuse(http.StatusBadRequest, "bad_stop_list", "neither products nor ingredients", unknown...)
	}
	model, err := st.model(c.id)
	if err != nil {
		return c.refuse(http.StatusConflict, "menu_malformed", err.Error())
	}
	return result(http.StatusOK, map[string]any{"restaurantID": c.id, "stopped": model.out.ids()})
}

// ids returns all stopped ids, sorted.
func (o stopped) ids() []string {
	ids := slices.AppendSeq(make([]string, 0, len(o.dishes)+len(o.parts)), maps.Keys(o.dishes))
	ids = slices.AppendSeq(ids, maps.Keys(o.parts))
	slices.Sort(ids)
	return ids
}

// Limits of GET /sandbox/menus: the maximum, and the default.
const (
	mostMenus = 500
	fewMenus  = 50
)

// ids returns the names of the menus that contain the search text, the default
// menu first: at most limit, and their total number.
func (st *menuStore) ids(search string, limit int) (ids []string, total int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	ids = slices.Collect(maps.Keys(st.put))
	if st.gen != nil {
		ids = slices.AppendSeq(ids, maps.Keys(st.gen.index))
	}
	search = strings.ToLower(search)
	ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.Contains(strings.ToLower(id), search) })
	slices.Sort(ids)
	ids = slices.Compact(ids) // a generated menu may have been put too
	if i := slices.Index(ids, DefaultMenu); i > 0 {
		ids = slices.Insert(slices.Delete(ids, i, i+1), 0, DefaultMenu)
	}
	return ids[:min(limit, len(ids))], len(ids)
}

// listMenus handles GET /sandbox/menus?search=&limit=.
func (st *menuStore) listMenus(c *call) answer {
	query := c.r.URL.Query()
	limit := fewMenus
	if given := query.Get("limit"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > mostMenus {
			return c.refuse(http.StatusBadRequest, "bad_limit", "limit: a number from 1 to "+strconv.Itoa(mostMenus))
		}
		limit = n
	}
	ids, total := st.ids(query.Get("search"), limit)
	names := make(map[string]string, len(ids))
	for _, id := range ids {
		if m, err := st.menu(id); err == nil {
			names[id] = m.name()
		}
	}
	return result(http.StatusOK, map[string]any{"menus": ids, "names": names, "total": total})
}
