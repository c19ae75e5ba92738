package ops_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"larder.local/internal/menu"
	"larder.local/internal/testkit/apitest"
	"larder.local/sync/runlog"
)

const quarantinedPath = apitest.OpsBistro + "/quarantined"

// Policy S4a: the quarantined menu can be read, compared with the served one and linted, until the next good run.
func TestTheQuarantinedMenu_S4a(t *testing.T) {
	t.Parallel()
	w := apitest.New(t)
	ops := w.As(apitest.ClientOps)
	routes := []string{quarantinedPath, quarantinedPath + "/changes", quarantinedPath + "/lint"}
	refused := func() {
		t.Helper()
		for _, path := range routes {
			w.Get(path, ops...).Refused(t, http.StatusNotFound, "version_not_found")
		}
	}
	refused()
	for _, path := range routes {
		w.Get(path).Refused(t, http.StatusUnauthorized, "unauthorized")
		w.Get(path, w.As(apitest.ClientShop)...).Refused(t, http.StatusForbidden, "forbidden")
		w.Get(path, w.As(apitest.ClientNorth)...).Refused(t, http.StatusNotFound, "restaurant_not_found")
	}
	const other = `{"result":{"categories":[],"products":[{"id":"p1","externalId":"x1","name":"Soup","price":4000},` +
		`{"id":"new","name":"New","price":0,"isContainInStopList":["bistro"],"extra":[1]}],` +
		`"ingredientsSchemes":[],"ingredientsGroups":[],"ingredients":[]}}`
	w.Service.SetMenu(apitest.Bistro, other)
	if run := w.SyncOnce(apitest.Bistro); run.Outcome != runlog.OutcomeQuarantined {
		t.Fatalf("%s %s, want quarantined", run.Outcome, run.Error)
	}
	if price, _ := priceOf(w); price != "199.9" {
		t.Errorf("p1 is served for %s", price)
	}

	raw := w.Get(quarantinedPath, ops...).Is(t, http.StatusOK)
	_, want, err := menu.DecodePublished([]byte(other))
	_, got, err2 := menu.DecodePublished(raw.Body)
	if err != nil || err2 != nil || string(got.Content) != string(want.Content) || string(got.Stops) != string(want.Stops) {
		t.Errorf("%v, %v: the view is %s", err, err2, raw.Body)
	}
	type dish struct {
		ID, Name string
		Price    json.Number
	}
	var changes struct {
		From, To       *int
		Counts         struct{ Added, Removed, Changed int }
		Added, Removed []dish
		Changed        []struct {
			ID     string
			Fields []struct {
				Field         string
				Before, After json.RawMessage
			}
		}
	}
	w.Get(quarantinedPath+"/changes", ops...).Is(t, http.StatusOK).Into(t, &changes)
	if changes.From == nil || *changes.From != 1 || changes.To != nil || changes.Counts.Added != 1 || changes.Counts.Removed != 4 ||
		len(changes.Added) != 1 || changes.Added[0] != (dish{"new", "New", "0"}) || len(changes.Removed) != 4 || len(changes.Changed) != 1 {
		t.Fatalf("changes %+v", changes)
	}
	priced := false
	for _, field := range changes.Changed[0].Fields {
		priced = priced || field.Field == "price" && string(field.Before) == "199.9" && string(field.After) == "4000"
	}
	if !priced {
		t.Errorf("changed %+v, want the price from 199.9 to 4000", changes.Changed)
	}
	var findings []struct {
		Code   string
		Dishes []struct{ ID, Name string }
	}
	w.Get(quarantinedPath+"/lint", ops...).Is(t, http.StatusOK).Into(t, &findings)
	found := false
	for _, finding := range findings {
		found = found || finding.Code == menu.LintPriceZero && len(finding.Dishes) == 1 && finding.Dishes[0].Name == "New"
	}
	if !found {
		t.Errorf("findings %+v, want the price 0 of the new dish", findings)
	}

	w.PublishAgain(apitest.KitchenMenu("200", "[]"))
	refused()

	w.Service.SetMenu(apitest.Empty, `{"result":{"products":[]}}`) // a first menu
	if run := w.SyncOnce(apitest.Empty); run.Outcome != runlog.OutcomeQuarantined {
		t.Fatalf("%s %s, want quarantined", run.Outcome, run.Error)
	}
	w.Get("/v1/ops/restaurants/"+apitest.Empty+"/quarantined/changes", ops...).Is(t, http.StatusOK).Into(t, &changes)
	if changes.From != nil || changes.Counts.Added != 0 {
		t.Errorf("changes of an empty first menu: %+v", changes)
	}
}
