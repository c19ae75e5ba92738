package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/redistest"
)

// O14b: what `check --online`, /readyz?verbose and the log say about a Redis that larder's user may not use
// completely or that is not durable, and whether orders are placed. All faults are named in one run.
func TestDurabilityIsShown_O14b(t *testing.T) {
	t.Parallel()
	const (
		noWait   = "WAIT is refused: NOPERM"
		noInfo   = "INFO is refused: NOPERM"
		noEval   = "Redis refuses commands: NOPERM: its user lacks rights: run ACL SETUSER NAME +eval +evalsha in Redis (docs/redis.md#rights)"
		noDisk   = "appendonly is off"
		evicts   = `maxmemory-policy is "volatile-lru"`
		replicas = "ordering.durability: replicas"
	)
	for name, test := range map[string]struct {
		memory   bool // no append-only file
		eviction bool
		replica  bool
		rights   []string
		setting  string
		faults   []string // none: orders are placed
		ready    []string // what /readyz?verbose says, if it is less: without scripts, nothing else is asked
		logged   string   // the event of the log, if it is not order.not_ready
	}{
		"a file and no replica":                {},
		"CONFIG, CLIENT, HELLO, CLUSTER":       {rights: []string{"-config", "-client", "-hello", "-cluster"}},
		"WAIT refused":                         {replica: true, rights: []string{"-wait"}, faults: []string{noWait, "1 replica is attached", "+wait"}},
		"WAIT refused, wait_replicas 0":        {replica: true, rights: []string{"-wait"}, setting: "wait_replicas: 0"},
		"INFO refused":                         {rights: []string{"-info"}, faults: []string{noInfo, "+info", "ordering.allow_eviction", "ordering.allow_non_durable"}},
		"INFO refused, settings":               {rights: []string{"-info"}, setting: "allow_eviction: true, allow_non_durable: true"},
		"EVAL refused":                         {rights: []string{"-eval", "-evalsha"}, faults: []string{noEval}},
		"no file, a replica":                   {memory: true, replica: true, faults: []string{noDisk, replicas}},
		"no file, a replica that acknowledges": {memory: true, replica: true, setting: "durability: replicas, wait_replicas: 1"},
		"no file, no replica":                  {memory: true, setting: "durability: replicas, wait_replicas: 1", faults: []string{"ordering.wait_replicas is 1, but Redis reports no replica"}, logged: "journal.replicas_missing"},
		"all faults": {
			memory: true, eviction: true, replica: true,
			rights: []string{"-wait", "-eval", "-evalsha"}, faults: []string{evicts, noDisk, noWait, noEval}, ready: []string{noEval},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := []redistest.Option{redistest.Config("repl-diskless-sync-delay", "0")}
			if !test.memory {
				options = append(options, redistest.AppendOnly())
			}
			if test.eviction {
				options = append(options, redistest.Config("maxmemory-policy", "volatile-lru"))
			}
			server := redistest.Start(t, options...)
			if test.replica {
				host, port, _ := strings.Cut(server.Addr(), ":")
				redistest.Start(t, redistest.Config("replicaof", host, port))
			}
			o := newOutageOn(t, strings.Replace(server.URL(), "://", "://larder:PASSWORD@", 1))
			text, err := os.ReadFile(o.config)
			if err != nil {
				t.Fatal(err)
			}
			o.config = clitest.WriteFile(t, "larder.yaml", string(text)+"ordering: {"+test.setting+"}\n")
			rights := append([]string{"reset", "on", ">PASSWORD", "~*", "&*", "+@all"}, test.rights...)
			admin := grant(t, server, "larder", rights)
			clitest.Eventually(t, "the replica is attached", func() bool {
				return !test.replica || strings.Contains(admin.Info(t.Context(), "replication").Val(), "state=online")
			})
			p := o.start(t)
			base := p.url(t)
			checked := larder(t, "check", "--online", "--config", o.config)
			if len(test.faults) == 0 {
				if checked.Status != cli.StatusDone {
					t.Errorf("check --online: %+v", checked)
				}
				o.serving(t, p)
				if status, _, body := o.place(t, shopper(t, base), "key"); status != http.StatusCreated {
					t.Errorf("an order: %d %s", status, body)
				}
				return
			}
			for _, fault := range test.faults {
				if checked.Status == cli.StatusDone || !strings.Contains(checked.Out, fault) {
					t.Errorf("check --online does not say %q: %+v", fault, checked)
				}
			}
			if test.ready == nil {
				test.ready = test.faults
			}
			var ready string
			clitest.Eventually(t, "/readyz?verbose has asked Redis", func() bool { // for a second at most, each time
				_, ready = clitest.Fetch(t, base+"/readyz?verbose")
				return !strings.Contains(ready, "does not answer")
			})
			for _, fault := range test.ready {
				quoted := strings.ReplaceAll(fault, `"`, `\"`)
				if !strings.Contains(ready, quoted) {
					t.Errorf("/readyz?verbose does not say %s: %s", quoted, ready)
				}
			}
			if test.logged != "" {
				p.log.Find(t, `"event":"`+test.logged+`"`)
			} else {
				p.log.Find(t, `"event":"order.not_ready"[^\n]*`+regexp.QuoteMeta(strings.ReplaceAll(test.faults[0], `"`, `\"`)))
			}
			shop := shopper(t, base)
			clitest.Eventually(t, "an order is refused for this reason", func() bool {
				status, _, body := o.place(t, shop, "key")
				if status == http.StatusCreated {
					t.Fatalf("an order is placed: %s", body)
				}
				if strings.Contains(body, "ACL") || strings.Contains(body, "ordering.") || strings.Contains(body, "Redis") {
					t.Errorf("a client without the scope ops gets a text for operators: %s", body)
				}
				return status == http.StatusServiceUnavailable
			})
		})
	}
}

// O14b, O14a: a master without an append-only file restarts by itself, and its replica copies the empty master. Two
// instances pause orders, and the ordering service gets no order again.
func TestMasterRestartsEmpty_O14b(t *testing.T) {
	t.Parallel()
	for name, setting := range map[string]string{
		"by replicas":       "durability: replicas, wait_replicas: 1",
		"allow_non_durable": "allow_non_durable: true, wait_replicas: 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, master, replica := onMasterWithoutFile(t, setting)
			bases := []string{o.serving(t, o.start(t)), o.serving(t, o.start(t))}
			placed := map[string]string{}
			for i := range 6 {
				key := fmt.Sprintf("order-%d", i)
				clitest.Eventually(t, "an order is placed", func() bool {
					status, _, body := o.place(t, shopper(t, bases[i%2]), key)
					placed[key] = body
					return status == http.StatusCreated
				})
			}
			if _, orders := o.calls(t); orders != len(placed) {
				t.Fatalf("the ordering service got %d orders, want %d", orders, len(placed))
			}
			master.Restart()
			for i, base := range []string{bases[0], bases[1], bases[0], bases[1]} {
				shop := shopper(t, base)
				keys := append(slices.Sorted(maps.Keys(placed)), fmt.Sprintf("new-%d", i))
				for _, key := range keys {
					clitest.Eventually(t, "orders are paused", func() bool {
						status, _, body := o.place(t, shop, key)
						if status == http.StatusCreated {
							t.Fatalf("%s: placed, although Redis has lost orders: %s", key, body)
						}
						return status == http.StatusServiceUnavailable && strings.Contains(body, `"journal_restored"`)
					})
				}
			}
			if _, orders := o.calls(t); orders != len(placed) {
				t.Errorf("the ordering service got %d orders, want the %d of before", orders, len(placed))
			}
			records := replica.Client().Keys(t.Context(), "larder:{o:main}:f1:order:*").Val()
			if len(records) > 0 {
				t.Errorf("the replica still has %v: it has not copied the empty master, and this test shows nothing", records)
			}
			must(t, "order", "accept-restore", "--config", o.config, "--url", bases[1], "--client-id", "ops", "--client-secret", "ops-secret")
			clitest.Eventually(t, "a new order is placed", func() bool {
				status, _, _ := o.place(t, shopper(t, bases[0]), "after")
				return status == http.StatusCreated
			})
			if _, orders := o.calls(t); orders != len(placed)+1 {
				t.Errorf("the ordering service got %d orders, want one more than %d", orders, len(placed))
			}
		})
	}
}

// onMasterWithoutFile configures instances on a master without an append-only file, which has a replica.
func onMasterWithoutFile(t *testing.T, setting string) (o *outage, master, replica *redistest.Server) {
	t.Helper()
	master = redistest.Start(t, redistest.Config("repl-diskless-sync-delay", "0"))
	host, port, _ := strings.Cut(master.Addr(), ":")
	replica = redistest.Start(t, redistest.Config("replicaof", host, port))
	o = newOutageOn(t, master.URL())
	text, err := os.ReadFile(o.config)
	if err != nil {
		t.Fatal(err)
	}
	// The tokens must outlive Redis.
	own := strings.Replace(string(text), "auth:\n", "auth:\n  signing_key: the-signing-key-of-all-instances-here\n", 1)
	o.config = clitest.WriteFile(t, "larder.yaml", own+"ordering: {"+setting+"}\n")
	return o, master, replica
}

// O14a: a master restarts with a snapshot that has an order, but not its payment. No instance pays the order again
// until an operator accepts that.
func TestMasterRestartsWithoutAPayment_O14a(t *testing.T) {
	t.Parallel()
	o, master, _ := onMasterWithoutFile(t, "durability: replicas, wait_replicas: 1")
	bases := []string{o.serving(t, o.start(t)), o.serving(t, o.start(t))}
	type order struct {
		Result struct {
			OrderID string
			Total   json.Number
		}
	}
	var placed order
	clitest.Eventually(t, "an order is placed", func() bool {
		status, _, body := o.place(t, shopper(t, bases[0]), "first")
		placed = clitest.FromJSON[order](t, body)
		return status == http.StatusCreated
	})
	if err := master.Client().Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	pay := func(base string) (int, string) {
		body := `[{"code": "1", "amount": ` + placed.Result.Total.String() + `, "paidAt": "2026-03-01T12:00:00Z"}]`
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, base+"/v1/orders/"+placed.Result.OrderID+"/pay", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := shopper(t, base).Authorized.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if closed := response.Body.Close(); err != nil || closed != nil {
			t.Fatal(err, closed)
		}
		return response.StatusCode, string(text)
	}
	payments := func() int {
		_, body := clitest.Fetch(t, o.service.URL+"/sandbox/counters")
		return clitest.FromJSON[struct {
			Result struct{ Calls map[string]int }
		}](t, body).Result.Calls["PUT /orders/api/v1/orders/{id}/pay"]
	}
	if status, body := pay(bases[0]); status != http.StatusOK || payments() != 1 {
		t.Fatalf("paid: %d %s, and %d payments at the service", status, body, payments())
	}
	master.Restart()
	for _, base := range bases {
		clitest.Eventually(t, "payments are paused", func() bool {
			status, body := pay(base)
			return status == http.StatusServiceUnavailable && strings.Contains(body, `"journal_restored"`)
		})
	}
	if status, _, body := o.place(t, shopper(t, bases[1]), "first"); status != http.StatusCreated {
		t.Errorf("the order is repeated: %d %s, want the first response: the snapshot has it", status, body)
	}
	if n := payments(); n != 1 {
		t.Errorf("the ordering service got %d payments, want the one of before", n)
	}
}
