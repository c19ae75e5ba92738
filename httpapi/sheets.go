package httpapi

import "sync"

// sheets are pairs of buffers, used for one request after the other: an order
// takes no room of its own.
type sheets struct{ pool sync.Pool }

// sheet is what one request is read into and answered from. Nothing of it may
// be kept when it is given back.
type sheet struct{ asked, answer []byte }

// take gives a sheet, which giveBack must get.
func (s *sheets) take() *sheet {
	if kept, ok := s.pool.Get().(*sheet); ok {
		return kept
	}
	return new(sheet)
}

// keptSheet is the largest buffer that is kept, in bytes; an ordinary order
// needs a tenth of it.
const keptSheet = 32 << 10

// giveBack keeps the sheet for the next request.
func (s *sheets) giveBack(used *sheet) {
	if cap(used.asked) <= keptSheet && cap(used.answer) <= keptSheet {
		s.pool.Put(used)
	}
}
