package sandbox

import (
	"net/http"

	"larder/internal/sandbox/board"
)

// page is the board's page, with the policy that keeps it to this address.
func page() answer {
	a, _ := file(board.Page)
	header := a.header
	header.Set("Content-Security-Policy", board.Policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Vary", "Accept")
	return a
}

// boardFile is GET /sandbox/board/{name}: what the page loads.
func (s *Sandbox) boardFile(c *call) answer {
	if a, found := file(c.id); found && c.id != board.Page {
		return a
	}
	return c.refuse(http.StatusNotFound, "file_not_found", "the board has no such file")
}

func file(name string) (answer, bool) {
	body, kind, found := board.File(name)
	return answer{status: http.StatusOK, body: body, header: http.Header{
		"Content-Type": {kind}, "X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"no-cache"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
	}}, found
}
