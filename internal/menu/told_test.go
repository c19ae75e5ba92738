package menu_test

import (
	"bytes"
	"compress/flate"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder/internal/menu"
	"larder/internal/sandbox"
)

// deflate packs as the standard library does.
type deflate struct{}

func (deflate) Pack(plain []byte) []byte {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		panic(err)
	}
	if _, err := w.Write(plain); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return packed.Bytes()
}

func (deflate) Unpack(packed []byte) ([]byte, error) {
	return io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
}

// Whoever reads while a content is condensed, and afterwards, reads what was
// read before.
func TestACondensedContentTellsTheSame(t *testing.T) {
	t.Parallel()
	view, err := menu.Decode(sandbox.Generate{Restaurants: 1, Products: 400, Seed: 3}.Menu(0))
	if err != nil {
		t.Fatal(err)
	}
	c := menu.Compile(view, "r", menu.DefaultSettings())
	whole := string(c.AppendMenu(nil, menu.Head{}))
	products := make([]string, c.ProductCount())
	for p := range products {
		products[p] = string(c.AppendProduct(nil, menu.Index(p), 1))
	}
	read := func() {
		for p, want := range products {
			if got := string(c.AppendProduct(nil, menu.Index(p), 1)); got != want {
				t.Errorf("dish %d (-want +got):\n%s", p, cmp.Diff(want, got))
				return
			}
		}
		if string(c.AppendMenu(nil, menu.Head{})) != whole {
			t.Error("the menu is another one")
		}
	}
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(read)
	}
	readers.Go(func() { c.Condense(deflate{}) })
	readers.Wait()
	for range 2 { // unpacked already, and not any more
		read()
		runtime.GC()
	}
	again := menu.Compile(view, "r", menu.DefaultSettings())
	if changes := menu.Diff(c, again); !changes.Empty() {
		t.Errorf("a condensed content differs from what it was made of: %+v", changes)
	}
	view.Products[7].Description = "another one"
	want := menu.Changes{
		Added: []string{}, Removed: []string{}, Availability: []menu.Availability{},
		Changed: []menu.Change{{ID: view.Products[7].ID, Fields: []string{"description"}}},
	}
	if diff := cmp.Diff(want, menu.Diff(c, menu.Compile(view, "r", menu.DefaultSettings()))); diff != "" {
		t.Errorf("a description that changed (-want +got):\n%s", diff)
	}
}

// forgetful unpacks nothing.
type forgetful struct{ deflate }

func (forgetful) Unpack([]byte) ([]byte, error) { return nil, io.ErrUnexpectedEOF }

// What does not come back is not packed.
func TestAPackerThatLosesTextsIsNotUsed(t *testing.T) {
	t.Parallel()
	c := menu.Compile(&menu.View{Products: []menu.Product{{ID: "a", Description: "Thin crust"}}}, "r", menu.DefaultSettings())
	c.Condense(forgetful{})
	if told := string(c.AppendProductEntry(nil, 0)); c.Condensed() || !strings.Contains(told, "Thin crust") {
		t.Errorf("condensed: %t; told: %s", c.Condensed(), told)
	}
	if c.Condense(deflate{}); !c.Condensed() {
		t.Error("nor is one that loses nothing")
	}
}

// A search finds words of descriptions that are packed.
func TestASearchOfACondensedContent(t *testing.T) {
	t.Parallel()
	view := &menu.View{}
	for i := range 300 {
		view.Products = append(view.Products, menu.Product{ID: strconv.Itoa(i), Description: strings.Repeat("plain ", 20) + "word" + strconv.Itoa(i) + "x"})
	}
	c := menu.Compile(view, "r", menu.DefaultSettings())
	c.Condense(deflate{})
	for _, p := range []menu.Index{0, 127, 128, 255, 256, 299} {
		hits, _ := c.Search(menu.Query{Text: "word" + strconv.Itoa(int(p)) + "x", After: menu.None})
		if diff := cmp.Diff([]menu.Index{p}, hits); diff != "" {
			t.Errorf("hits of dish %d (-want +got):\n%s", p, diff)
		}
	}
}

// What is condensed takes less, and what was unpacked is let go of.
func TestACondensedContentTakesLess(t *testing.T) { //nolint:paralleltest // it measures the heap
	view := &menu.View{}
	for i := range 300 {
		view.Products = append(view.Products, menu.Product{ID: strconv.Itoa(i), Description: strings.Repeat("The crust is thin. ", 400)})
	}
	c := menu.Compile(view, "r", menu.DefaultSettings())
	view = nil
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	plain := heap()
	c.Condense(deflate{})
	c.AppendMenu(nil, menu.Head{})
	const texts = 300 * 19 * 400
	if condensed := heap(); plain < condensed+texts*9/10 {
		t.Errorf("%d bytes of texts: %d bytes plain, %d condensed", texts, plain, condensed)
	}
	runtime.KeepAlive(c)
	runtime.KeepAlive(view)
}
