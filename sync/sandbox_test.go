package sync_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"larder.local/cache"
	"larder.local/internal/redisdb"
	"larder.local/internal/sandbox"
	"larder.local/internal/upstream"
	menusync "larder.local/sync"
	"larder.local/sync/runlog"
)

func TestTheSandboxOverHTTP(t *testing.T) {
	t.Parallel()
	ordering := sandbox.New(sandbox.Config{})
	ordering.SetMenu(string(bistro), sandbox.Bistro(string(bistro), ""))
	ordering.SetMenu(sandbox.DefaultMenu, sandbox.Bistro(string(bistro), ""))
	server := httptest.NewServer(ordering.Handler())
	t.Cleanup(server.Close)
	cfg := upstream.Config{
		Name:         "main",
		BaseURL:      server.URL,
		AuthURL:      server.URL,
		ClientID:     "demo",
		ClientSecret: "demo-secret",
	}
	cfg.SetDefaults()
	client, err := upstream.New(cfg, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	g := newFixture(t, redisdb.Embedded, func(d *menusync.Deps) {
		d.Connections[0].Source, d.Connections[0].DefaultMenu = client, true
	})
	g.want(g.once(), runlog.OutcomeUpdated, 1)
	g.want(g.once(), runlog.OutcomeUnchanged, 1)
	own, err := g.OnceOf(t.Context(), cache.DefaultMenu("main"), runlog.TriggerCron)
	if err != nil {
		t.Fatal(err)
	}
	g.want(own, runlog.OutcomeUpdated, 1)
	if run, err := g.ReasonsOnce(t.Context(), "main"); err != nil || run.Outcome != runlog.OutcomeUpdated {
		t.Errorf("reasons: %+v, %v", run, err)
	}
	if counts := g.current().Counts; counts.Products < 10 || counts.Orderable == 0 {
		t.Errorf("the bistro has %+v", counts)
	}

	ordering.SetMenu(string(bistro), []byte(`{"products": [}`))
	run := g.once()
	g.want(run, runlog.OutcomeFailed, 1)
	if !strings.Contains(run.Error, "not valid JSON at line 1, column") {
		t.Errorf("error %q does not contain the position", run.Error)
	}
}
