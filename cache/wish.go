package cache

import "larder/internal/menu"

// wish is for the densest form of the menu of a restaurant, or of its view as
// published, in one encoding.
type wish struct {
	restaurant menu.RestaurantID
	what       menu.Index
	enc        Encoding
}

// wish notes that a body is read whose densest form, in the encoding enc, is
// not made yet; ready is what is served meanwhile.
func (r *Replica) wish(snap *Snapshot, what menu.Index, ready *Representation, enc Encoding) {
	if ready.Encoding == enc && ready.dense || what != WholeMenu && what != PublishedMenu {
		return
	}
	// Once for each body: this stands in the way of every read.
	if bit := uint32(1) << enc; ready.wished.Load()&bit == 0 && ready.wished.Or(bit)&bit == 0 {
		r.wishes.add(wish{snap.Restaurant, what, enc})
	}
}
