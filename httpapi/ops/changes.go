package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"larder.local/cache"
	"larder.local/httpapi/auth"
	"larder.local/httpapi/respond"
	"larder.local/httpapi/visible"
	"larder.local/internal/menu"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

// maxShown limits each list of a comparison. The counts include all changes.
const maxShown = 500

// maxDiffs limits the comparisons at the same time, because each of them loads two menus.
const maxDiffs = 2

// changesView is the difference between two versions, for people. From is null if no menu is served. To is null for the
// quarantined menu.
type changesView struct {
	From *int64 `json:"from"`
	To   *int64 `json:"to"`
	// Counts include everything; the lists have the first 500 each.
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

// dishView has the name and price of a dish.
type dishView struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Price json.RawMessage `json:"price"`
}

// changedDish is a dish with its changed fields. The values of "groups", which is all choices
// of a dish, are null, and so are fields that a version does not have.
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

// VersionChanges answers GET …/versions/{version}/changes: the changes up to version ?to=, by default the current one.
func (h *Handlers) VersionChanges(c *gin.Context, restaurant menu.RestaurantID) error {
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
	if err := h.diffs.Acquire(c.Request.Context(), 1); err != nil {
		return err
	}
	defer h.diffs.Release(1)
	older, err := h.catalogueOf(c.Request.Context(), restaurant, &from)
	if err != nil {
		return err
	}
	newer, err := h.catalogueOf(c.Request.Context(), restaurant, &to)
	if err != nil {
		return err
	}
	view := compare(older, newer)
	view.From, view.To = &from, &to
	return respond.JSON(c, http.StatusOK, respond.Result{Result: view})
}

// catalogueOf returns the catalogue of a version in the history. If another version with the same content and other stop
// lists has replaced it, it returns that one and sets number.
func (h *Handlers) catalogueOf(ctx context.Context, restaurant menu.RestaurantID, number *int64) (*menu.Catalogue, error) {
	catalogue, err := h.deps.Replica.CatalogueOf(ctx, restaurant, *number)
	if !errors.Is(err, cache.ErrNoCatalogue) {
		return catalogue, err
	}
	kept, err := h.deps.Store.Versions(ctx, restaurant) // the newest first
	after := slices.IndexFunc(kept, func(version cache.Version) bool { return version.Version < *number })
	if err != nil || after < 1 { // the oldest one may have another content
		return nil, cmp.Or[error](err, respond.VersionNotFound(*number))
	}
	*number = kept[after-1].Version
	return h.deps.Replica.CatalogueOf(ctx, restaurant, *number)
}

// changeRow is a run that published another content, with the current name of its restaurant.
type changeRow struct {
	Run            runlog.Run `json:"run"`
	RestaurantName *string    `json:"restaurantName"`
}

// Changes answers GET /v1/ops/changes: the runs of all restaurants that published another content, newest first. ?from= and
// ?to= limit the time of their request. Its cost is that of a page.
func (h *Handlers) Changes(c *gin.Context) error {
	limit, cursor, err := respond.PageOf(c)
	from, to, wrong := respond.Period(c)
	if err = cmp.Or(err, wrong); err != nil {
		return err
	}
	runs, next, err := h.deps.Runner.Log().List(c.Request.Context(), runlog.Filter{
		Changed: true, Outcome: runlog.OutcomeUpdated, From: from, To: to, Limit: limit, Cursor: cursor,
	})
	if err != nil {
		return err
	}
	list := respond.Page[changeRow]{Result: make([]changeRow, 0, len(runs)), Next: respond.NextPage(next)}
	for _, run := range runs {
		if h.deps.Directory.SeesMenu(auth.CallerOf(c).Viewer(), run.Restaurant) {
			list.Result = append(list.Result, changeRow{run, visible.Name(h.deps.Directory, h.deps.Replica, run.Restaurant)})
		}
	}
	return respond.JSON(c, http.StatusOK, list)
}

// compare returns the differences between two catalogues.
func compare(older, newer *menu.Catalogue) changesView {
	differs := menu.Diff(older, newer)
	view := changesView{
		Counts:       changeCounts{len(differs.Added), len(differs.Removed), len(differs.Changed), len(differs.Availability)},
		Added:        dishesOf(newer, differs.Added),
		Removed:      dishesOf(older, differs.Removed),
		Changed:      []changedDish{},
		Availability: []stoppedChange{},
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

// dishesOf returns the first dishes with names and prices.
func dishesOf(in *menu.Catalogue, ids []string) []dishView {
	dishes := make([]dishView, 0, min(len(ids), maxShown))
	for _, id := range first(ids) {
		dishes = append(dishes, dishView{ID: id, Name: nameIn(in, id), Price: productFields(in, id)["price"]})
	}
	return dishes
}

// productFields returns a dish's fields as in the JSON for storefronts.
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

// findingView is a finding with its dishes, if they are in the menu.
type findingView struct {
	menu.Finding
	Dishes []touchedDish `json:"dishes"`
}

type touchedDish struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Orderable bool   `json:"orderable"`
}

// describeFindings adds the dishes of a menu to the findings; none if in is nil.
func describeFindings(in *menu.Catalogue, findings []menu.Finding) []findingView {
	views := make([]findingView, len(findings))
	for i, finding := range findings {
		views[i] = findingView{Finding: finding, Dishes: []touchedDish{}}
		if in == nil {
			continue
		}
		for _, id := range finding.Products {
			if at, ok := in.Products().ByID(id); ok {
				views[i].Dishes = append(views[i].Dishes, touchedDish{ID: id, Name: in.Products().At(at).Name(), Orderable: in.Orderable(at)})
			}
		}
	}
	return views
}

// Quarantined answers GET …/quarantined: the quarantined menu view as the ordering service published it (policy S4a).
func (h *Handlers) Quarantined(c *gin.Context, restaurant menu.RestaurantID) error {
	return h.ofQuarantined(c, restaurant, func(q menusync.QuarantinedMenu) error {
		respond.JSONText(c, http.StatusOK, q.Answer)
		return nil
	})
}

// QuarantinedChanges answers GET …/quarantined/changes: what guests would see change if the menu were forced.
func (h *Handlers) QuarantinedChanges(c *gin.Context, restaurant menu.RestaurantID) error {
	return h.ofQuarantined(c, restaurant, func(q menusync.QuarantinedMenu) error {
		served, err := h.deps.Replica.Catalogue(c.Request.Context(), restaurant)
		var view changesView
		switch {
		case err == nil:
			view = compare(menu.Unsnoozed(served.Catalogue), q.Catalogue)
			view.From = &served.Version.Version
		case errors.Is(err, cache.ErrNoCatalogue), errors.Is(err, cache.ErrOtherSource):
			view = compare(menu.Compile(&menu.View{}, restaurant, q.Catalogue.Settings()), q.Catalogue)
		default:
			return err
		}
		return respond.JSON(c, http.StatusOK, respond.Result{Result: view})
	})
}

// QuarantinedLint answers GET …/quarantined/lint: the findings of the quarantined menu.
func (h *Handlers) QuarantinedLint(c *gin.Context, restaurant menu.RestaurantID) error {
	return h.ofQuarantined(c, restaurant, func(q menusync.QuarantinedMenu) error {
		return respond.JSON(c, http.StatusOK, respond.Result{Result: describeFindings(q.Catalogue, q.Findings())})
	})
}

func (h *Handlers) ofQuarantined(c *gin.Context, restaurant menu.RestaurantID, answer func(menusync.QuarantinedMenu) error) error {
	if err := h.diffs.Acquire(c.Request.Context(), 1); err != nil {
		return err
	}
	defer h.diffs.Release(1)
	return h.deps.Runner.Quarantined(c.Request.Context(), restaurant, answer)
}
