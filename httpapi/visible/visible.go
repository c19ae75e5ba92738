// Package visible finds the restaurant, menu or connection of a request, if its caller may see it.
//
// Its invariant: data of other connections is answered as if it did not exist. The handlers below
// httpapi call it. The package reads only the request and the directory, and never changes either.
package visible

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"larder.local/cache/replica"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/internal/directory"
	"larder.local/internal/menu"
	"larder.local/ordering"
	"larder.local/ordering/validate"
)

// Served is what handlers read about restaurants: those that are configured, their menus, and what orders have to keep to.
type Served struct {
	Directory *directory.Directory
	Replica   *replica.Replica
	Terms     func(of menu.RestaurantID, now time.Time) (delivery, pickup validate.Terms)
	Clock     func() time.Time
}

// Restaurant returns the path's restaurant. A restaurant that the caller may not see is answered as unknown.
func Restaurant(c *gin.Context, known *directory.Directory) (directory.Restaurant, error) {
	return Find(known, auth.CallerOf(c), respond.Param(c, "restaurant"))
}

// Find returns a restaurant that the caller may see.
func Find(known *directory.Directory, who auth.Caller, id string) (directory.Restaurant, error) {
	restaurant, ok := known.Find(who.Viewer(), menu.RestaurantID(id))
	if !ok {
		return directory.Restaurant{}, respond.RestaurantNotFound(known.Following(who.Viewer(), menu.RestaurantID(id)))
	}
	return restaurant, nil
}

// ByClient is how a client of the compatible API selects one of several connections, for error texts.
const ByClient = "set auth.clients[].connection to"

// OnlyConnection returns the only connection that the caller sees. how is how to select one,
// for the error if there are several.
func OnlyConnection(known *directory.Directory, who auth.Caller, how string) (string, error) {
	if name, one := known.OnlyConnection(who.Viewer()); one {
		return name, nil
	}
	names := known.Connections(who.Viewer())
	if len(names) == 0 {
		return "", respond.ConnectionNotFound(names)
	}
	return "", &respond.Problem{
		Code: respond.CodeConnectionRequired, Params: map[string]any{"known": names},
		Msg: "several connections are configured; " + how + " one of: " + strings.Join(names, ", "),
	}
}

// Menu returns the menu for a request of a connection: that of the named restaurant. Without a
// name, policy O1a selects the connection's default menu or that of its only restaurant.
// Restaurants of other connections are answered as unknown.
func Menu(known *directory.Directory, connection, restaurant string) (menu.RestaurantID, error) {
	ours := directory.Viewer(connection)
	if one, ok := known.Find(ours, menu.RestaurantID(restaurant)); ok {
		return one.ID, nil
	}
	if own, kept := known.DefaultMenu(connection); restaurant == "" && kept {
		return own, nil
	}
	switch theirs, total := known.Following(ours, menu.RestaurantID(restaurant)); {
	case restaurant != "" || total == 0:
		return "", respond.RestaurantNotFound(theirs, total)
	case total == 1:
		return theirs[0], nil
	default:
		return "", respond.RestaurantRequired(theirs, total)
	}
}

const askForNames = "a client with a token can ask for the names"

// Connection returns the requested connection, or the only one that the caller sees if none is given. It names no other
// connection to a caller without a token (policy H7).
func Connection(c *gin.Context, known *directory.Directory, asked string, given bool) (string, error) {
	who := auth.CallerOf(c)
	name, one := known.OnlyConnection(who.Viewer())
	names := known.Connections(who.Viewer())
	switch {
	case !given && one:
		return name, nil
	case given && slices.Contains(names, asked):
		return asked, nil
	case who.Client == "" && given:
		return "", &respond.Problem{Code: respond.CodeConnectionNotFound, Msg: "the connection does not exist; " + askForNames}
	case who.Client == "":
		return "", &respond.Problem{Code: respond.CodeConnectionRequired, Msg: "add ?connection= with the name of one; " + askForNames}
	case given:
		return "", respond.ConnectionNotFound(names)
	default:
		return OnlyConnection(known, who, "add ?connection= with")
	}
}

// Recorded returns the connections whose orders the caller sees, with the former ones unless the caller is limited to a
// connection (policy O20).
func Recorded(c *gin.Context, known *directory.Directory, journal ordering.Journal) ([]string, error) {
	who := auth.CallerOf(c).Viewer()
	seen := known.Connections(who)
	if who != "" {
		return seen, nil
	}
	former, err := journal.Former(c.Request.Context(), seen)
	return append(seen, former...), err
}

// Connections returns the connection of ?connection=, or all that the caller sees.
func Connections(c *gin.Context, known *directory.Directory) ([]string, error) {
	return Asked(c, known.Connections(auth.CallerOf(c).Viewer()))
}

// Asked returns the connection of ?connection=, or all that are seen.
func Asked(c *gin.Context, seen []string) ([]string, error) {
	name, given := c.GetQuery("connection")
	if !given {
		return seen, nil
	}
	if !slices.Contains(seen, name) {
		return nil, respond.ConnectionNotFound(seen)
	}
	return []string{name}, nil
}

// Paused returns those of the connections that are paused; not nil.
func Paused(connections []string, paused func(connection string) bool) []string {
	return slices.DeleteFunc(append([]string{}, connections...), func(connection string) bool { return !paused(connection) })
}

// SyncedMenu returns the menu in the path: a restaurant's, or a connection's default menu as "@connection".
func SyncedMenu(c *gin.Context, known *directory.Directory) (menu.RestaurantID, error) {
	id := menu.RestaurantID(respond.Param(c, "restaurant"))
	if known.HasMenu(id) && known.SeesMenu(auth.CallerOf(c).Viewer(), id) {
		return id, nil
	}
	restaurant, err := Restaurant(c, known)
	return restaurant.ID, err
}

// Query reads ?q=, ?cursor= and ?limit=.
func Query(c *gin.Context) (directory.Query, error) {
	limit, after, err := respond.PageOf(c)
	words, tooLong := respond.SearchText(c)
	return directory.Query{Limit: limit, After: after, Words: words}, cmp.Or(err, tooLong)
}

// Name returns the restaurant's configured name, or the name in its menu. It returns nil for a
// restaurant that is not configured.
func Name(known *directory.Directory, served *replica.Replica, id menu.RestaurantID) *string {
	restaurant, found := known.Restaurant(id)
	if !found {
		return nil
	}
	version, _ := served.Version(id)
	return respond.OrNull(cmp.Or(restaurant.Name, version.Name))
}
