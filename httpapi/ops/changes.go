package ops

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"larder/cache"
	"larder/httpapi/respond"
	"larder/httpapi/visible"
	"larder/internal/menu"
)

// maxShown bounds each list of a comparison; what is more is counted alone.
const maxShown = 500

// maxDiffs is how many versions are compared at one time: each takes the two
// menus into memory.
const maxDiffs = 2

// changesView is what differs between two versions, in words for a person.
type changesView struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Counts are of everything; the lists have the first 500 each.
	Counts       changeCounts    `json:"counts"`
	Added        []dishView      `json:"added"`
	Removed      []dishView      `json:"removed"`
	Changed      []changedDish   `json:"changed"`
	Availability []stoppedChange `json:"availability"`
}

type changeCounts struct {
	Added        int `json:"added"`
	Removed      int `json:"removed"`
	Changed      int `json:"changed"`
	Availability int `json:"availability"`
}

// dishView names a dish.
type dishView struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Price json.RawMessage `json:"price"`
}

// changedDish is a dish with the fields that differ. Of "groups", which is all
// of a dish's choices, and of what the older version had not, there are no
// values: null.
type changedDish struct {
	ID     string         `json:"id"`
	Name   string         `json:"name"`
	Fields []changedField `json:"fields"`
}

type changedField struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

type stoppedChange struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Available bool   `json:"available"`
}

// VersionChanges answers GET …/versions/{version}/changes: what would be another
// in ?to=, which is the current version where it is left out.
func (h *Handlers) VersionChanges(c *gin.Context) error {
	restaurant, err := visible.SyncedMenu(c, h.deps.Directory)
	if err != nil {
		return err
	}
	from, err := respond.VersionNumber("version", respond.Param(c, "version"))
	if err != nil {
		return err
	}
	current, err := h.deps.Store.Current(c.Request.Context(), restaurant)
	if err != nil {
		return err
	}
	to := current.Version
	if text, given := c.GetQuery("to"); given {
		if to, err = respond.VersionNumber("to", text); err != nil {
			return err
		}
	}
	select {
	case h.diffSlots <- struct{}{}:
		defer func() { <-h.diffSlots }()
	case <-c.Request.Context().Done():
		return c.Request.Context().Err()
	}
	older, err := h.catalogueOf(c.Request.Context(), restaurant, from)
	if err != nil {
		return err
	}
	newer, err := h.catalogueOf(c.Request.Context(), restaurant, to)
	if err != nil {
		return err
	}
	view := compare(older, newer)
	view.From, view.To = from, to
	return respond.JSON(c, http.StatusOK, respond.Result{Result: view})
}

// catalogueOf compiles a version that is kept.
func (h *Handlers) catalogueOf(ctx context.Context, restaurant menu.RestaurantID, number int64) (*menu.Catalogue, error) {
	if snapshot, ok := h.deps.Replica.Cached(restaurant); ok && snapshot.Version.Version == number {
		return snapshot.Catalogue, nil
	}
	version, err := h.deps.Store.Version(ctx, restaurant, number)
	if err == nil {
		var content *menu.Content
		if content, err = h.deps.Store.Content(ctx, version.Content); err == nil {
			return content.Catalogue(version.Stops), nil
		}
	}
	if errors.Is(err, cache.ErrNoCatalogue) {
		err = respond.VersionNotFound(number)
	}
	return nil, err
}

// compare words what differs.
func compare(older, newer *menu.Catalogue) changesView {
	differs := menu.Diff(older, newer)
	view := changesView{
		Counts: changeCounts{len(differs.Added), len(differs.Removed), len(differs.Changed), len(differs.Availability)},
		Added:  dishesOf(newer, differs.Added), Removed: dishesOf(older, differs.Removed),
		Changed: []changedDish{}, Availability: []stoppedChange{},
	}
	for _, change := range first(differs.Changed) {
		before, after := productFields(older, change.ID), productFields(newer, change.ID)
		dish := changedDish{ID: change.ID, Name: nameIn(newer, change.ID), Fields: []changedField{}}
		for _, field := range change.Fields {
			dish.Fields = append(dish.Fields, changedField{Field: field, Before: before[field], After: after[field]})
		}
		view.Changed = append(view.Changed, dish)
	}
	for _, change := range first(differs.Availability) {
		view.Availability = append(view.Availability, stoppedChange{ID: change.ID, Name: nameIn(newer, change.ID), Available: change.Available})
	}
	return view
}

// dishesOf names the first of the dishes.
func dishesOf(in *menu.Catalogue, ids []string) []dishView {
	dishes := make([]dishView, 0, min(len(ids), maxShown))
	for _, id := range first(ids) {
		dishes = append(dishes, dishView{ID: id, Name: nameIn(in, id), Price: productFields(in, id)["price"]})
	}
	return dishes
}

// productFields are a dish's fields as the storefront's JSON has them.
func productFields(in *menu.Catalogue, id string) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if at, ok := in.Products().ByID(id); ok && json.Unmarshal(in.AppendProductEntry(nil, at), &fields) == nil {
		return fields
	}
	return nil
}

func nameIn(in *menu.Catalogue, id string) string {
	if at, ok := in.Products().ByID(id); ok {
		return in.Products().At(at).Name()
	}
	return ""
}

func first[T any](all []T) []T { return all[:min(len(all), maxShown)] }

// findingView is a finding with the dishes that it touches by name, as far as
// the menu that is served has them.
type findingView struct {
	menu.Finding
	Dishes []touchedDish `json:"dishes"`
}

type touchedDish struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Orderable bool   `json:"orderable"`
}

// describeFindings returns the findings with the names of their dishes, from memory.
func (h *Handlers) describeFindings(restaurant menu.RestaurantID, findings []menu.Finding) []findingView {
	snapshot, served := h.deps.Replica.Cached(restaurant)
	views := make([]findingView, len(findings))
	for i, finding := range findings {
		views[i] = findingView{Finding: finding, Dishes: []touchedDish{}}
		if !served {
			continue
		}
		for _, id := range finding.Products {
			if at, ok := snapshot.Catalogue.Products().ByID(id); ok {
				views[i].Dishes = append(views[i].Dishes, touchedDish{
					ID: id, Name: snapshot.Catalogue.Products().At(at).Name(), Orderable: snapshot.Catalogue.Orderable(at),
				})
			}
		}
	}
	return views
}
