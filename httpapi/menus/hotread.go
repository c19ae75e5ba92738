package menus

import (
	"time"

	"larder/cache"
	"larder/cache/encoded"
	"larder/httpapi/auth"
	"larder/httpapi/respond"
	"larder/httpapi/visible"
	"larder/internal/menu"
)

// menuRead is a read that both paths answer: this package's handlers behind
// net/http, and the fast path before it (docs/decisions/0023-the-express-lane.md).
// What it means is decided here alone.
type menuRead struct {
	kind       readKind
	restaurant string // of a view: as the query names it, "" where it does not
	product    string
	by         string      // what product is: "" or id, or externalId
	who        auth.Caller // zero: nobody said
}

// readKind is what is read.
type readKind uint8

const (
	readMenu readKind = iota
	readProduct
	readView // the menu view as published, on the compatible API
)

// resolvedRead is the body that a read is about, of one version.
type resolvedRead struct {
	snapshot *cache.Snapshot
	what     menu.Index // encoded.WholeMenu, encoded.PublishedMenu, encoded.ChangesOnly, or a dish
	modified time.Time
	since    int64 // of encoded.ChangesOnly: the version that they are counted from
}

// resolve looks up what is read in the current version of the menu that menuOf
// names.
func (read *menuRead) resolve(snapshot *cache.Snapshot) (resolvedRead, error) {
	switch read.kind {
	case readView:
		return resolvedRead{snapshot: snapshot, what: encoded.PublishedMenu, modified: snapshot.PublishedAt}, nil
	case readProduct:
		index, err := findProduct(snapshot.Catalogue, read.by, read.product)
		return resolvedRead{snapshot: snapshot, what: index, modified: snapshot.ModifiedAt}, err
	default:
		return resolvedRead{snapshot: snapshot, what: encoded.WholeMenu, modified: snapshot.ModifiedAt}, nil
	}
}

// menuOf names the catalogue that is read; the id is the configuration's.
func (h *Handlers) menuOf(read *menuRead) (menu.RestaurantID, error) {
	if read.kind == readView {
		connection, err := visible.OnlyConnection(h.directory, read.who, visible.ByClient)
		if err != nil {
			return "", err
		}
		return visible.Menu(h.directory, connection, read.restaurant)
	}
	restaurant, err := visible.Find(h.directory, read.who, read.restaurant)
	return restaurant.ID, err
}

// findProduct looks up a dish by its id or its externalId.
func findProduct(catalogue *menu.Catalogue, by, id string) (menu.Index, error) {
	switch by {
	case "", "id":
		if index, ok := catalogue.ProductByID(id); ok {
			return index, nil
		}
	case "externalId":
		found := catalogue.ProductsByExternalID(id)
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			ids := make([]string, len(found))
			for i, index := range found {
				ids[i] = catalogue.Product(index).ID()
			}
			return menu.None, &respond.Problem{
				Code: respond.CodeExternalIDAmbiguous, Msg: "several products have this externalId; ask by id",
				Params: map[string]any{"externalId": id, "ids": ids},
			}
		}
	default:
		return menu.None, respond.InvalidParameter("by", "is id or externalId")
	}
	return menu.None, &respond.Problem{Code: respond.CodeProductNotFound, Msg: "the restaurant's menu has no such product"}
}
