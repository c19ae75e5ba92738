package cache

import "testing"

// A content that was loaded or offered is condensed while Run runs, and the
// bodies made of it afterwards say the same.
func TestContentsAreCondensed(t *testing.T) {
	t.Parallel()
	for name, bring := range map[string]func(r *Replica, p Publication, v Version) error{
		"loaded": func(r *Replica, _ Publication, _ Version) error {
			_, err := r.Catalogue(t.Context(), "bistro")
			return err
		},
		"offered": func(r *Replica, p Publication, v Version) error {
			r.Offer(&Snapshot{Version: v, Catalogue: p.Catalogue})
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewStore(openForTest(t, Embedded), StoreConfig{})
			p := generated(t, 0, largeMenu, 1)
			version, err := s.Publish(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			want := string(menuBody(version, p.Catalogue))
			replica := NewReplica(s, ReplicaConfig{})
			if err := bring(replica, p, version); err != nil {
				t.Fatal(err)
			}
			snap := snapOf(t, replica)
			if snap.Catalogue.Condensed() {
				t.Fatal("who brought it waited for it to be condensed")
			}
			runs(t, replica)
			soon(t, "condensed", snap.Catalogue.Condensed)
			ready, err := replica.Menu(snap, Gzip)
			if err != nil {
				t.Fatal(err)
			}
			if got := bodyIn(t, ready); got != want {
				t.Errorf("the menu of a condensed content has %d bytes, want the same %d as of a plain one", len(got), len(want))
			}
		})
	}
}
