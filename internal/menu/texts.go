package menu

import "strings"

// textBlock is how many bytes of texts stand in one piece of memory.
const textBlock = 4 << 10

// texts copies small texts into few pieces of memory, so that what is kept of a
// view keeps nothing else of it.
type texts struct{ block strings.Builder }

func (t *texts) copy(text string) string {
	if text == "" {
		return ""
	}
	if t.block.Len()+len(text) > t.block.Cap() {
		t.block = strings.Builder{}
		t.block.Grow(max(textBlock, len(text)))
	}
	start := t.block.Len()
	t.block.WriteString(text) // never beyond its capacity: what stands there stays
	return t.block.String()[start:]
}
