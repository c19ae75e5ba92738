package cache

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larder/internal/menu"
	"larder/internal/redisdb"
)

// An earlier larder stored a content in several frames of zstd, one behind the
// other, and a field parts beside them.
func TestAContentInSeveralFramesIsRead(t *testing.T) {
	t.Parallel()
	OnEveryForm(t, func(t *testing.T, r *redisdb.DB) {
		s := NewStore(r, StoreConfig{})
		p := generated(t, 0, 100, 1)
		v, err := s.Publish(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		content := p.Published.Content
		frames := slices.Concat(s.packer.pack(content[:1000]), s.packer.pack(content[1000:]))
		if err := r.Client().HSet(t.Context(), NewKeys(r.Prefix()).ContentBody(v.Content), "view", frames, "parts", "some bytes").Err(); err != nil {
			t.Fatal(err)
		}
		stored, err := s.Content(t.Context(), v.Content)
		if err != nil {
			t.Fatal(err)
		}
		head := menu.Head{Restaurant: "bistro", Version: 1}
		if diff := cmp.Diff(string(p.Catalogue.AppendMenu(nil, head)), string(stored.Catalogue(v.Stops).AppendMenu(nil, head))); diff != "" {
			t.Errorf("the menu made from what is stored (-want +got):\n%s", diff)
		}
		view, err := s.View(t.Context(), v)
		if diff := cmp.Diff(p.Published, view); diff != "" || err != nil {
			t.Errorf("the view as published, %v (-want +got):\n%s", err, diff)
		}
	})
}
