package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// auditScan bounds the entries that one page with a filter reads.
const auditScan = 5000

// auditFilter chooses entries; what is empty chooses all.
type auditFilter struct {
	action     action
	client     string
	restaurant string
}

// takes tells whether an entry is chosen.
func (f auditFilter) takes(d deed) bool {
	return (f.action == "" || d.Action == f.action) && (f.client == "" || d.Client == f.client) &&
		(f.restaurant == "" || d.Restaurant != nil && string(*d.Restaurant) == f.restaurant)
}

// listAudit answers GET /v1/ops/audit: who did what and when, the newest first;
// ?action=, ?client= and ?restaurant= choose. A page of a filter that matches
// few may be short.
func (s *Server) listAudit(c *gin.Context) {
	limit, err := pageSize(c)
	if err != nil {
		fail(c, err)
		return
	}
	from, err := cursor(c)
	if err == nil && from != "" && !isEntry(from) {
		err = badCursor()
	}
	if err != nil {
		fail(c, err)
		return
	}
	filter := auditFilter{action: action(c.Query("action")), client: c.Query("client"), restaurant: c.Query("restaurant")}
	if known := actions(); filter.action != "" && !slices.Contains(known, filter.action) {
		names := make([]string, len(known))
		for i, one := range known {
			names[i] = string(one)
		}
		fail(c, invalid("action", "is one of "+strings.Join(names, ", ")))
		return
	}
	list := page[deed]{Result: []deed{}}
	who, _ := callerOf(c)
	last := from
	for scanned := 0; ; {
		part, err := s.audit.before(c.Request.Context(), from, maxPage)
		if err != nil {
			fail(c, err)
			return
		}
		for _, d := range part {
			if d.seenBy(who) && filter.takes(d) {
				if len(list.Result) == limit {
					list.Next = nextPage(last)
					answer(c, http.StatusOK, list)
					return
				}
				list.Result = append(list.Result, d)
			}
			last = d.ID
		}
		if scanned += len(part); len(part) < maxPage {
			break
		}
		if scanned >= auditScan {
			list.Next = nextPage(last)
			break
		}
		from = last
	}
	answer(c, http.StatusOK, list)
}
