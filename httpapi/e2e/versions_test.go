package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/cache"
	"larder.local/cache/replica"
	"larder.local/httpapi"
	"larder.local/httpapi/metrics"
	"larder.local/internal/menu"
	"larder.local/internal/silentlog"
	"larder.local/internal/testkit/apitest"
	"larder.local/internal/testkit/menutest"
	"larder.local/internal/testkit/redistest"
	"larder.local/ordering/validate"
	menusync "larder.local/sync"
)

// reader reads one route repeatedly and checks that each response is consistent.
type reader struct {
	client  *http.Client
	address string
	last    int64
	reads   int
}

// read reads once. The version must not go back.
func (r *reader) read(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d: %s", r.address, response.StatusCode, body)
	}
	version, err := strconv.ParseInt(response.Header.Get("Larder-Menu-Version"), 10, 64)
	if err != nil {
		return err
	}
	if version < r.last {
		return fmt.Errorf("%s: version %d after %d", r.address, version, r.last)
	}
	r.last = version
	r.reads++
	return r.check(version, response.Header.Get("Etag"), body)
}

// check reports the values of a response that belong to another edition.
func (r *reader) check(version int64, etag string, body []byte) error {
	name, price := fmt.Sprintf("edition %d", version), fmt.Sprintf("%d.5", version)
	if !strings.HasPrefix(etag, fmt.Sprintf(`W/"%d-`, version)) {
		return fmt.Errorf("%s: version %d with the tag %s", r.address, version, etag)
	}
	type item struct {
		Name  string
		Price json.Number
	}
	var answer struct {
		Result struct {
			item
			Version     int64
			Products    []item
			Ingredients []item
			Groups      []struct {
				Name    string
				Options []item
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("%s: version %d: %w", r.address, version, err)
	}
	got := answer.Result
	items := append(got.Products, got.Ingredients...)
	if got.Products == nil { // one product
		items = []item{got.item}
		for _, group := range got.Groups {
			items = append(append(items, group.Options...), item{Name: group.Name, Price: json.Number(price)})
		}
	} else if want := 20 + int(version)%7; len(got.Products) != want || got.Name != name {
		return fmt.Errorf("%s: version %d has %d dishes and is called %q, want %d and %q", r.address, version, len(got.Products), got.Name, want, name)
	}
	for _, one := range items {
		if one.Name != name || string(one.Price) != price {
			return fmt.Errorf("%s: version %d holds %q at %s", r.address, version, one.Name, one.Price)
		}
	}
	if got.Version != version {
		return fmt.Errorf("%s: version %d in the header, %d in the body", r.address, version, got.Version)
	}
	return nil
}

// follower is another instance on the same Redis: it learns of versions from notices, not from its
// own syncs.
func follower(w *apitest.Fixture) string {
	w.T.Helper()
	var p apitest.Plan
	p.HTTP.Listen = "127.0.0.1:0"
	p.HTTP.SetDefaults()
	p.Auth.SetDefaults()
	store := cache.NewStore(w.Redis, cache.StoreConfig{})
	catalogues := replica.New(store, replica.Config{Restaurants: func() []menu.RestaurantID { return []menu.RestaurantID{apitest.Bistro} }})
	validator := validate.New(validate.DefaultConfig(), time.Now)
	synced := w.SyncDeps(apitest.Plan{}, nil)
	runner := w.NewRunner(synced)
	server, err := httpapi.New(p.HTTP, p.Auth, httpapi.Deps{
		Replica:   catalogues,
		Store:     store,
		Directory: apitest.Directory(synced, nil),
		Scheduler: menusync.NewScheduler(runner),
		Runner:    runner,
		Validator: validator,
		Redis:     w.Redis,
		Orders:    w.Engine,
		Journal:   w.Journal,
		Metrics:   metrics.New(""),
		Log:       silentlog.New(),

		UnknownOrders: w.Journal.Unknown,
	})
	if err != nil {
		w.T.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.T.Context())
	var group errgroup.Group
	group.Go(func() error { return catalogues.Run(ctx) })
	w.T.Cleanup(func() {
		cancel()
		if err := group.Wait(); err != nil {
			w.T.Error(err)
		}
	})
	return apitest.Run(w.T, server)
}

// Readers never see a partly replaced menu. During many publishes, they read the menu and
// product routes of the publisher and of a follower. They see only complete versions, and never an
// older version after a newer one.
func TestReadersSeeConsistentVersions(t *testing.T) { // policy S6
	t.Parallel()
	publishes := int64(menutest.Rounds(300, 1000))
	server := redistest.Start(t)
	w := apitest.New(t, func(p *apitest.Plan) { p.Redis.URL, p.Unsynced = server.URL(), true })
	w.Service.SetMenu(apitest.Bistro, apitest.Edition(1))
	w.SyncOnce(apitest.Bistro)
	second := follower(w)

	var published atomic.Bool
	var group errgroup.Group
	var readers []*reader
	for _, base := range []string{w.URL, second} {
		for _, path := range []string{apitest.MenuPath, apitest.MenuPath, "/v1/restaurants/bistro/products/d3", "/v1/restaurants/bistro/products/d19"} {
			pack := len(readers)%2 == 0 // http.Transport requests gzip and decompresses it
			transport := &http.Transport{DisableCompression: !pack}
			t.Cleanup(transport.CloseIdleConnections)
			r := &reader{client: &http.Client{Transport: transport}, address: base + path}
			readers = append(readers, r)
			group.Go(func() error {
				for !published.Load() {
					if err := r.read(t.Context()); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	for n := int64(2); n <= publishes; n++ {
		w.Service.SetMenu(apitest.Bistro, apitest.Edition(int(n)))
		if run := w.SyncOnce(apitest.Bistro); run.Version != n {
			t.Errorf("publish %d: got %+v", n, run)
			break
		}
	}
	published.Store(true)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, r := range readers {
		for r.last < publishes {
			if err := r.read(late); err != nil {
				t.Fatalf("%s stayed at version %d: %v", r.address, r.last, err)
			}
		}
		if r.reads < 2 {
			t.Errorf("%s was read %d times: this proves nothing", r.address, r.reads)
		}
	}
	if errors.Is(late.Err(), context.DeadlineExceeded) {
		t.Error("the followers came late")
	}
}

// While versions change, each order is checked against one of them: names, prices and total are of the same version.
func TestAnOrderIsCheckedAgainstOneVersion_O6(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, func(p *apitest.Plan) { p.HTTP.Rate, p.Unsynced = httpapi.RateConfig{}, true })
	w.Service.SetMenu(apitest.Bistro, apitest.Edition(1))
	w.SyncOnce(apitest.Bistro)
	body := fmt.Sprintf(`{"expeditionType": "pickup", "paymentTypeID": "card", "expectedAt": %q,
"dishList": [{"ID": "d3", "quantity": 1, "ingredients": [{"ID": "i"}]}, {"ID": "d19", "quantity": 1}]}`, time.Now().Add(2*time.Hour).Format(time.RFC3339))
	var published atomic.Bool
	var versions atomic.Int64 // that orders were checked against
	group, ctx := errgroup.WithContext(t.Context())
	group.Go(func() error {
		for last := int64(0); !published.Load(); {
			got, err := apitest.Request(t, http.MethodPost, w.URL+apitest.ValidatePath, body, "Content-Type", "application/json")
			var answer struct {
				Result struct {
					Version int64
					Total   float64
				}
			}
			if err = errors.Join(err, json.Unmarshal(got.Body, &answer)); err != nil {
				return err
			}
			version, text := answer.Result.Version, string(got.Body)
			names := strings.Count(text, fmt.Sprintf(`"name":"edition %d"`, version))
			if answer.Result.Total != 3*(float64(version)+0.5) || names < 3 || names != strings.Count(text, `"name":`) ||
				got.Header.Get("Larder-Menu-Version") != strconv.FormatInt(version, 10) {
				return fmt.Errorf("header %v, not of one version: %s", got.Header, text)
			}
			if version != last {
				versions.Add(1)
			}
			last = version
		}
		return nil
	})
	limit := time.Now().Add(time.Minute)
	for n := 2; ctx.Err() == nil && versions.Load() < 50 && time.Now().Before(limit); n++ {
		w.Service.SetMenu(apitest.Bistro, apitest.Edition(n))
		w.SyncOnce(apitest.Bistro)
	}
	published.Store(true)
	if err := group.Wait(); err != nil || versions.Load() < 50 {
		t.Errorf("checked against %d versions, want 50; %v", versions.Load(), err)
	}
}
