package main

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"larder/internal/cli"
	"larder/internal/testkit/clitest"
	"larder/internal/testkit/redistest"
)

// O14b: what `check --online`, /readyz?verbose and the log say about a Redis that larder's user may not use
// completely or that is not durable, and whether orders are placed. All faults are named in one run.
func TestDurabilityIsShown_O14b(t *testing.T) {
	t.Parallel()
	const (
		noWait   = "refuses the command WAIT (NOPERM)"
		noInfo   = "INFO is refused: NOPERM"
		noEval   = "refuses the command EVAL (NOPERM)"
		noDisk   = "appendonly is off"
		evicts   = `maxmemory-policy is "volatile-lru"`
		replicas = "ordering.durability: replicas"

		noScripts = "its user may not run EVALSHA; allow it (ACL SETUSER NAME +evalsha)"
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
		"EVAL refused":                         {rights: []string{"-eval", "-evalsha"}, faults: []string{noEval, "+eval +evalsha"}, ready: []string{noScripts}},
		"no file, a replica":                   {memory: true, replica: true, faults: []string{noDisk, replicas}},
		"no file, a replica that acknowledges": {memory: true, replica: true, setting: "durability: replicas, wait_replicas: 1"},
		"no file, no replica":                  {memory: true, setting: "durability: replicas, wait_replicas: 1", faults: []string{"Redis has 0 replicas, but ordering.wait_replicas is 1"}, logged: "journal.replicas_missing"},
		"all faults": {
			memory: true, eviction: true, replica: true,
			rights: []string{"-wait", "-eval", "-evalsha"}, faults: []string{evicts, noDisk, noWait, noEval}, ready: []string{noScripts},
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
			_, ready := clitest.Fetch(t, base+"/readyz?verbose")
			if test.ready == nil {
				test.ready = test.faults
			}
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
				return status == http.StatusServiceUnavailable
			})
		})
	}
}
