// Package directory holds the restaurants of the configuration, their connections, and which of them a client may see.
//
// Invariant: one call reads one configuration. A reload replaces the whole content atomically, and no call
// sees a part of it.
//
// cmd/larder fills a Directory at the start and at each reload. The reads, lists and order routes of
// httpapi and the cache's replica use it, so that none of them depends on the scheduler. The package
// does no I/O, and knows neither schedules nor menus: a configured restaurant may not have a menu yet.
package directory

import (
	"slices"
	"strings"
	"sync/atomic"

	"larder.local/internal/menu"
)

// Restaurant is one configured restaurant.
type Restaurant struct {
	ID         menu.RestaurantID
	Name       string // empty: the menu's name is used
	Phone      string // for operators; empty: unknown
	GuestPhone string // for guests; empty: none, as Address and TimeZone
	Address    string
	TimeZone   string // IANA name
	Connection string // the ordering service with its menu

	DeliveryTerms string // for guests: fee and area in the restaurant's words
}

// String returns "name (id)", or the id if there is no other name.
func (r Restaurant) String() string {
	if r.Name == "" || r.Name == string(r.ID) {
		return string(r.ID)
	}
	return r.Name + " (" + string(r.ID) + ")"
}

// Connection is one configured connection to an ordering service.
type Connection struct {
	Name string
	// DefaultMenu is the id of the connection's default menu, which belongs to no restaurant. Other
	// data that is synced for the connection has this id, a slash and a word.
	DefaultMenu menu.RestaurantID
	// KeepsDefaultMenu reports whether the default menu is synced.
	KeepsDefaultMenu bool
}

// Viewer limits what a client sees: it is the name of the only connection that the
// client sees. The empty Viewer sees everything.
type Viewer string

// Sees reports whether the viewer may see what belongs to a connection.
func (v Viewer) Sees(connection string) bool { return v == "" || string(v) == connection }

// Directory returns the configured restaurants and connections, and who may see them. All methods may
// be called from any goroutine. The results are shared and must not be changed.
type Directory struct {
	connections []Connection
	current     atomic.Pointer[content]
}

// content is everything that a reload replaces; it never changes.
type content struct {
	restaurants []Restaurant
	byID        map[menu.RestaurantID]Restaurant
	menus       []menu.RestaurantID
	index       *Index
	visible     map[Viewer][]menu.RestaurantID // sorted; the empty Viewer has all
}

// New returns a Directory. The ids of the restaurants and the names of the connections must be
// distinct, and every restaurant's connection must be among them.
func New(connections []Connection, restaurants []Restaurant) *Directory {
	d := &Directory{connections: slices.Clone(connections)}
	d.Replace(restaurants)
	return d
}

// Replace replaces all restaurants atomically. The connections stay.
func (d *Directory) Replace(restaurants []Restaurant) {
	c := &content{
		restaurants: slices.Clone(restaurants),
		byID:        make(map[menu.RestaurantID]Restaurant, len(restaurants)),
		menus:       make([]menu.RestaurantID, 0, len(restaurants)+len(d.connections)),
	}
	for _, restaurant := range c.restaurants {
		c.byID[restaurant.ID] = restaurant
		c.menus = append(c.menus, restaurant.ID)
	}
	for _, connection := range d.connections {
		if connection.KeepsDefaultMenu {
			c.menus = append(c.menus, connection.DefaultMenu)
		}
	}
	c.index = newIndex(c.restaurants)
	c.visible = make(map[Viewer][]menu.RestaurantID, len(d.connections)+1)
	for _, entry := range c.index.entries {
		c.visible[""] = append(c.visible[""], entry.ID)
		c.visible[Viewer(entry.Connection)] = append(c.visible[Viewer(entry.Connection)], entry.ID)
	}
	for _, ids := range c.visible {
		slices.Sort(ids)
	}
	d.current.Store(c)
}

// Restaurants returns the restaurants in the configured order.
func (d *Directory) Restaurants() []Restaurant { return d.current.Load().restaurants }

// Restaurant returns a configured restaurant, but not a default menu.
func (d *Directory) Restaurant(id menu.RestaurantID) (Restaurant, bool) {
	restaurant, ok := d.current.Load().byID[id]
	return restaurant, ok
}

// Menus returns the ids of everything that has a menu: the restaurants, then the synced default menus.
func (d *Directory) Menus() []menu.RestaurantID { return d.current.Load().menus }

// HasMenu reports whether the id has a menu: a restaurant's or a default menu.
func (d *Directory) HasMenu(id menu.RestaurantID) bool {
	_, ok := d.current.Load().byID[id]
	return ok || slices.ContainsFunc(d.connections, func(c Connection) bool { return c.KeepsDefaultMenu && c.DefaultMenu == id })
}

// DefaultMenu returns the id of a connection's default menu, and whether it is synced.
func (d *Directory) DefaultMenu(connection string) (menu.RestaurantID, bool) {
	for _, c := range d.connections {
		if c.Name == connection {
			return c.DefaultMenu, c.KeepsDefaultMenu
		}
	}
	return "", false
}

// ConnectionOf returns the connection of an id: of a restaurant, a default menu, or other data that is
// synced for the connection. It returns false for an id that is not configured.
func (d *Directory) ConnectionOf(id menu.RestaurantID) (string, bool) {
	if restaurant, ok := d.Restaurant(id); ok {
		return restaurant.Connection, true
	}
	for _, c := range d.connections {
		if rest, found := strings.CutPrefix(string(id), string(c.DefaultMenu)); found && (rest == "" || rest[0] == '/') {
			return c.Name, true
		}
	}
	return "", false
}

// Find returns a restaurant that the viewer may see.
func (d *Directory) Find(who Viewer, id menu.RestaurantID) (Restaurant, bool) {
	if restaurant, ok := d.Restaurant(id); ok && who.Sees(restaurant.Connection) {
		return restaurant, true
	}
	return Restaurant{}, false
}

// maxFollowing limits the result of Following.
const maxFollowing = 5

// Following returns up to five ids of restaurants that the viewer may see and that follow an id in a list
// sorted by id, and how many restaurants the viewer may see. Its work does not grow with their number (policy H7).
func (d *Directory) Following(who Viewer, id menu.RestaurantID) (ids []menu.RestaurantID, total int) {
	seen := d.current.Load().visible[who]
	at, known := slices.BinarySearch(seen, id)
	if known {
		at++
	}
	return seen[at:min(at+maxFollowing, len(seen)):len(seen)], len(seen)
}

// SeesMenu reports whether the viewer may see what is synced under an id. An id that is not configured
// may have been removed; only a viewer of everything sees it.
func (d *Directory) SeesMenu(who Viewer, id menu.RestaurantID) bool {
	if connection, ok := d.ConnectionOf(id); ok {
		return who.Sees(connection)
	}
	return who == ""
}

// Connections returns the names of the connections that the viewer may see, in
// the configured order. The slice is the caller's, and never nil.
func (d *Directory) Connections(who Viewer) []string {
	names := make([]string, 0, len(d.connections))
	for _, c := range d.connections {
		if who.Sees(c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// OnlyConnection returns the connection that the viewer sees, if it is the only one; otherwise it returns false.
func (d *Directory) OnlyConnection(who Viewer) (string, bool) {
	seen, name := 0, ""
	for i := range d.connections {
		if who.Sees(d.connections[i].Name) {
			seen, name = seen+1, d.connections[i].Name
		}
	}
	if seen != 1 {
		return "", false
	}
	return name, true
}

// Index returns the restaurants in the form that lists search.
func (d *Directory) Index() *Index { return d.current.Load().index }
