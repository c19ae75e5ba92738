package cache

import "larder/internal/menu"

// DropView lets go of the restaurant's view as published, as if it had not been
// loaded yet.
func (r *Replica) DropView(restaurant menu.RestaurantID) {
	if s := r.findSlot(restaurant); s != nil {
		s.published.Store(nil)
	}
}
