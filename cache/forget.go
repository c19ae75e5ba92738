package cache

import "larder/internal/menu"

// Forget lets go of the memory of restaurants that are no longer kept: their
// catalogues, ready bodies and all. Redis is not touched. ReplicaConfig.Keeps
// must have ceased to name them before; then nothing brings them back, whatever
// is being loaded or published meanwhile.
func (r *Replica) Forget(restaurants ...menu.RestaurantID) {
	for _, restaurant := range restaurants {
		r.forgetMiss(restaurant)
		found, ok := r.seats.LoadAndDelete(restaurant)
		if !ok {
			continue
		}
		s, _ := found.(*seat)
		s.moves.Lock()
		now := s.now.Swap(nil)
		s.coming.Store(nil)
		s.view.Store(nil)
		s.moves.Unlock()
		if now != nil {
			now.shelf.clear(r.bodies)
		}
	}
}

// forgetUnkept is called after a seat was taken or made: that of a restaurant
// which is no longer kept is left again. Either this sees that, or Forget comes later.
func (r *Replica) forgetUnkept(restaurant menu.RestaurantID) {
	if !r.cfg.Keeps(restaurant) {
		r.Forget(restaurant)
	}
}
