package journal_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// restricted starts a master with replicas, and returns its URL for a user with these rights.
func restricted(t *testing.T, replicas int, rights []string, options ...redistest.Option) (*redistest.Server, string) {
	t.Helper()
	options = append(options, redistest.Config("repl-diskless-sync-delay", "0"))
	master := redistest.Start(t, options...)
	host, port, _ := strings.Cut(master.Addr(), ":")
	for range replicas {
		redistest.Start(t, redistest.Config("replicaof", host, port))
	}
	client := master.Client()
	eventually(t, "the replicas acknowledge", func() bool {
		pipe := client.Pipeline()
		pipe.Incr(t.Context(), "written")
		acknowledged := pipe.Do(t.Context(), "WAIT", replicas, 100)
		_, err := pipe.Exec(t.Context())
		n, _ := acknowledged.Int()
		return replicas == 0 || err == nil && n == replicas
	})
	setRights(t, master, rights)
	return master, strings.Replace(master.URL(), "redis://", "redis://larder:secret@", 1)
}

func setRights(t *testing.T, master *redistest.Server, rights []string) {
	t.Helper()
	command := []any{"ACL", "SETUSER", "larder", "reset", "on", ">secret", "~*", "&*", "+@all"}
	for _, right := range rights {
		command = append(command, right)
	}
	if err := master.Client().Do(t.Context(), command...).Err(); err != nil {
		t.Fatal(err)
	}
}

func byReplicas(wait int) func(*ordering.Config) {
	return func(c *ordering.Config) { c.Durability, c.WaitReplicas = ordering.DurableByReplicas, &wait }
}

// TestDurability_O14b tests which Redis can record orders durably, and that every fault is named at once.
func TestDurability_O14b(t *testing.T) {
	t.Parallel()
	disk, noDisk := []redistest.Option{redistest.AppendOnly()}, []redistest.Option{}
	wait := func(n int) func(*ordering.Config) { return func(c *ordering.Config) { c.WaitReplicas = &n } }
	const refused, mayNotAsk, noScripts = "WAIT is refused: NOPERM", "INFO is refused: NOPERM", "refuses commands: NOPERM: its user lacks rights: run ACL SETUSER NAME +eval +evalsha in Redis"
	for _, test := range []struct {
		name     string
		options  []redistest.Option
		replicas int
		rights   []string
		change   func(*ordering.Config)
		want     []string // parts of the message; none: orders are placed
		rule     string   // part of the rule
	}{
		{"WAIT refused with a replica", disk, 1, []string{"-wait"}, nil, []string{refused, "1 replica is attached", "+wait", "wait_replicas: 0"}, ""},
		{"WAIT refused without replicas", disk, 0, []string{"-wait"}, nil, []string{refused, "Redis reports no replica"}, ""},
		{"WAIT refused, wait_replicas 1", disk, 1, []string{"-wait"}, wait(1), []string{refused, "1 replica is attached"}, ""},
		{"WAIT refused, wait_replicas 0", disk, 1, []string{"-wait"}, wait(0), nil, "although Redis has one: a failover can lose orders"},
		{"WAIT refused, wait_replicas 0, no file", noDisk, 1, []string{"-wait"}, wait(0), []string{"appendonly is off"}, ""},
		{
			"WAIT refused, wait_replicas 0, no file, allowed", noDisk, 1,
			[]string{"-wait"},
			func(c *ordering.Config) { c.WaitReplicas, c.AllowNonDurable = new(0), true }, nil, "ordering.allow_non_durable",
		},
		{"WAIT is an unknown command", []redistest.Option{redistest.AppendOnly(), redistest.Config("rename-command", "WAIT", "")}, 0, nil, nil, []string{"WAIT is refused: unknown command; Redis reports no replica", "use a Redis that has WAIT"}, ""},
		{"INFO refused", disk, 0, []string{"-info"}, nil, []string{mayNotAsk, "ordering.allow_eviction", "ordering.allow_non_durable", "ordering.durability: replicas and ordering.wait_replicas", "+info"}, ""},
		{"INFO refused, one key", disk, 0, []string{"-info"}, func(c *ordering.Config) { c.AllowEviction = true }, []string{mayNotAsk, "allow_non_durable"}, ""},
		{"INFO refused, both keys", disk, 0, []string{"-info"}, func(c *ordering.Config) { c.AllowEviction, c.AllowNonDurable = true, true }, nil, "not known how many replicas are attached"},
		{"INFO of memory only", disk, 0, []string{"-info", "+info|memory"}, nil, []string{mayNotAsk, "whether it writes orders to disk"}, ""},
		{"INFO and WAIT refused", disk, 1, []string{"-info", "-wait"}, nil, []string{mayNotAsk, refused, "not known how many replicas"}, ""},
		{"CONFIG, CLIENT, HELLO, CLUSTER refused", disk, 0, []string{"-config", "-client", "-hello", "-cluster"}, nil, nil, "Redis reports no replica"},
		{"EVAL refused", disk, 1, []string{"-eval", "-evalsha"}, nil, []string{noScripts, "+eval +evalsha"}, ""},
		{"EVAL refused without replicas", disk, 0, []string{"-eval", "-evalsha"}, nil, []string{noScripts, "+eval +evalsha"}, ""},
		{"EVAL is an unknown command", []redistest.Option{redistest.AppendOnly(), redistest.Config("rename-command", "EVAL", "")}, 0, []string{"-eval"}, nil, []string{"answers with an error: ERR: it does not have EVAL and EVALSHA, which larder needs"}, ""},
		{"no file, replicas acknowledge", noDisk, 1, nil, nil, []string{"appendonly is off", "ordering.durability: replicas"}, ""},
		{"no file, replicas acknowledge, by replicas", noDisk, 1, nil, byReplicas(1), nil, "or the loss of all nodes; only instances that keep running detect both; one that starts later sends a lost order again if its request is repeated: set ordering.state_dir"},
		{"no file, wait_replicas 0, by replicas", noDisk, 1, nil, byReplicas(0), []string{"appendonly is off"}, ""}, // configs refuses it too
		{"no file, too few replicas, by replicas", noDisk, 1, nil, byReplicas(2), []string{"ordering.wait_replicas is 2, but 1 replica is attached"}, ""},
		{"no file, WAIT refused, by replicas", noDisk, 1, []string{"-wait"}, byReplicas(1), []string{refused, "ordering.allow_non_durable"}, ""},
		{"no file, INFO refused, by replicas", noDisk, 1, []string{"-info"}, func(c *ordering.Config) { byReplicas(1)(c); c.AllowEviction = true }, nil, "loss of all nodes"},
		{"no file, accept_restore, by replicas", noDisk, 1, nil, func(c *ordering.Config) { byReplicas(1)(c); c.AcceptRestore = new(true) }, nil, "the loss of all nodes; with ordering.accept_restore, larder continues after both"},
		{"a file and no replica", disk, 0, nil, nil, nil, "Redis reports no replica"},
		{"evicts, and too few replicas", []redistest.Option{redistest.AppendOnly(), redistest.Config("maxmemory-policy", "volatile-lru")}, 1, nil, wait(2), []string{`"volatile-lru"`, "ordering.wait_replicas is 2, but 1 replica is attached"}, ""},
		{
			"everything at once",
			[]redistest.Option{redistest.Config("maxmemory-policy", "volatile-lru")},
			1,
			[]string{"-wait"},
			nil,
			[]string{`"volatile-lru"`, "appendonly is off", refused},
			"",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, url := restricted(t, test.replicas, test.rights, test.options...)
			cfg := ordering.DefaultConfig()
			if test.change != nil {
				test.change(&cfg)
			}
			j := journal.New(open(t, url, ""), cfg, quiet())
			err := j.Ready(t.Context(), main)
			if len(test.want) == 0 {
				if err != nil {
					t.Fatalf("Ready = %v, want ready", err)
				}
				begun(t, j, create())
			}
			for _, want := range test.want {
				if notReady := new(*ordering.NotReadyError); !errors.As(err, notReady) || !strings.Contains((*notReady).Msg, want) {
					t.Errorf("Ready = %v, want %q", err, want)
				}
			}
			if slices.Contains(test.rights, "-eval") {
				return // without EVAL nothing can be watched
			}
			health := watched(t, j)
			if health.NotReady != "" && health.Rule() != "" {
				t.Errorf("the rule is %q, but %s", health.Rule(), health.NotReady)
			}
			if rule := health.Rule(); !strings.Contains(rule, test.rule) || strings.Contains(rule, "no failover") {
				t.Errorf("the rule is %q, want %q", rule, test.rule)
			}
		})
	}
}

// The text asks to allow INFO only if Redis says that the right is missing.
func TestInfoThatSaysLittle_O14b(t *testing.T) {
	t.Parallel()
	const disk, eviction = "Redis does not say whether it writes orders to disk ", "Redis does not say whether it evicts orders "
	for name, test := range map[string]struct {
		rights  []string
		replies *strings.Replacer
		want    []string
	}{
		"fields are missing": {
			nil,
			strings.NewReplacer("\naof_enabled:", "\nxxx_xxxxxxx:", "\nmaxmemory_policy:", "\nxxxxxxxxx_xxxxxx:"),
			[]string{eviction + "(INFO does not show maxmemory_policy): if maxmemory-policy is noeviction, set", disk + "(INFO does not show aof_enabled): if it does, set"},
		},
		"an unknown command": {
			[]string{"-info"},
			strings.NewReplacer("-NOPERM ", "-ERR unknown command 'INFO' "),
			[]string{eviction + "(INFO is refused: unknown command)", disk + "(INFO is refused: unknown command)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, _ := restricted(t, 0, test.rights, redistest.AppendOnly())
			cfg := ordering.DefaultConfig()
			db := open(t, "redis://larder:secret@"+rewriting(t, master.Addr(), test.replies)+"/0", "")
			err := journal.New(db, cfg, quiet()).Ready(t.Context(), main)
			for _, want := range test.want {
				if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "+info") {
					t.Errorf("Ready = %v, want %q and no right", err, want)
				}
			}
			cfg.AllowEviction, cfg.AllowNonDurable = true, true
			if err := journal.New(db, cfg, quiet()).Ready(t.Context(), main); err != nil {
				t.Errorf("with both settings: %v", err)
			}
		})
	}
}

// A right that is taken away while larder runs stops orders, and they continue when it is back.
func TestWaitIsRefusedLater_O14b(t *testing.T) {
	t.Parallel()
	master, url := restricted(t, 1, nil, redistest.AppendOnly())
	cfg := ordering.DefaultConfig()
	cfg.WaitReplicas = new(1)
	j := journal.New(open(t, url, ""), cfg, quiet())
	ready(t, j)
	begun(t, j, create())
	setRights(t, master, []string{"-wait"})
	if _, err := j.Begin(t.Context(), create()); !errors.Is(err, journal.ErrReplicas) {
		t.Errorf("Begin = %v, want ErrReplicas", err)
	}
	_, err := j.Begin(t.Context(), create()) // before the settings are read again
	wantNotReady(t, err, "WAIT is refused: NOPERM; 1 replica is attached", 5*time.Second)
	wantNotReady(t, j.Ready(t.Context(), main), "WAIT is refused: NOPERM", time.Minute)
	if health := watched(t, j); !strings.Contains(health.NotReady, "WAIT is refused: NOPERM") {
		t.Errorf("NotReady = %q", health.NotReady)
	}
	setRights(t, master, nil)
	eventually(t, "orders are placed again", func() bool { return j.Ready(t.Context(), main) == nil })
}

// Without replicas, no write shows that WAIT is allowed again: the settings do.
func TestWaitIsAllowedLater_O14b(t *testing.T) {
	t.Parallel()
	master, url := restricted(t, 0, []string{"-wait"}, redistest.AppendOnly())
	j := journal.New(open(t, url, ""), ordering.DefaultConfig(), quiet())
	wantNotReady(t, j.Ready(t.Context(), main), "WAIT is refused: NOPERM; Redis reports no replica", time.Minute)
	setRights(t, master, nil)
	j.AgeSettings(main, time.Minute)
	wantNotReady(t, j.Ready(t.Context(), main), "", 0)
}

// A replica that INFO reports is not enough: WAIT must confirm it.
func TestReplicasMustAcknowledge_O14b(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	p.replicas[0].Freeze() // still attached for INFO
	j := p.journal(t, byReplicas(1))
	if err := p.master.Client().ConfigSet(t.Context(), "appendonly", "no").Err(); err != nil {
		t.Fatal(err)
	}
	wantNotReady(t, j.Ready(t.Context(), main), "too few replicas of Redis acknowledge writes (1 needed; 1 replica is attached)", 5*time.Second)
	p.replicas[0].Thaw()
	ready(t, j)
	begun(t, j, create())
}

// A replica that still copies the data is not named as attached.
func TestReplicaThatCopies_O14b(t *testing.T) {
	t.Parallel()
	p := startPair(t, 1)
	p.replicas[0].Freeze()
	proxy := rewriting(t, p.master.Addr(), strings.NewReplacer("state=online", "state=copied"))
	cfg := ordering.DefaultConfig()
	cfg.WaitReplicas = new(1)
	j := journal.New(open(t, "redis://"+proxy+"/0", ""), cfg, quiet())
	wantNotReady(t, j.Ready(t.Context(), main), "ordering.wait_replicas is 1, but Redis reports no replica", 5*time.Second)
}

// A master without a file restarts by itself, and its replica copies the empty master. Orders pause on every
// instance that remembers more, also with allow_non_durable.
func TestMasterRestartsEmpty_O14b(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*ordering.Config){
		"by replicas":       byReplicas(1),
		"allow_non_durable": func(c *ordering.Config) { c.AllowNonDurable, c.WaitReplicas = true, new(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, url := restricted(t, 1, nil)
			cfg := ordering.DefaultConfig()
			change(&cfg)
			j := journal.New(open(t, url, ""), cfg, quiet())
			ready(t, j)
			o := create()
			ended(t, j, begun(t, j, o), ordering.OutcomeDone, "765")
			acknowledged := []ordering.CallSpec{o}
			for _, op := range []ordering.Operation{upstream.OpPay, upstream.OpComplete} {
				c := pay("765")
				c.Operation, c.Adopt = op, true // as the compatible API sends it
				ended(t, j, begun(t, j, c), ordering.OutcomeDone, "")
				acknowledged = append(acknowledged, c)
			}
			master.Restart()
			setRights(t, master, nil)
			eventually(t, "orders pause", func() bool {
				health, err := j.Watch(t.Context(), main)
				return err == nil && !health.PausedAt.IsZero()
			})
			for _, o := range acknowledged { // with the same keys: nothing must be sent twice
				eventually(t, "the replica follows again", func() bool {
					_, err := j.Begin(t.Context(), o)
					if err == nil {
						t.Fatalf("Begin begins an acknowledged %s again", o.Operation)
					}
					return errors.As(err, new(*ordering.RestoredError))
				})
			}
		})
	}
}

// Without waiting, a failover loses an acknowledged order: this is what the rules above prevent. With wait_replicas 1
// any one replica has it, and only that one; with the number of replicas, all have it.
func TestWhatAFailoverKeeps_O14b(t *testing.T) {
	t.Parallel()
	for wait, want := range []int64{0, 1, 1} {
		t.Run("wait_replicas "+strconv.Itoa(wait), func(t *testing.T) {
			t.Parallel()
			p := startPair(t, 2)
			if wait < 2 {
				cutOff(t, p.replicas[0]) // the other one has it alone
			}
			if wait < 1 {
				cutOff(t, p.replicas[1])
			}
			j := p.journal(t, func(c *ordering.Config) { c.WaitReplicas, c.AllowNonDurable = &wait, true })
			ready(t, j)
			r := begun(t, j, create())
			p.failover(t, p.replicas[1])
			if n := p.master.Client().Exists(t.Context(), "larder:{o:main}:f1:order:"+r.Ref).Val(); n != want {
				t.Errorf("the new master has %d records of the order, want %d", n, want)
			}
		})
	}
}

// The embedded Redis loses everything with the process, so it accepts that by itself.
func TestEmbeddedAcceptsRestore_O14b(t *testing.T) {
	t.Parallel()
	cfg := ordering.DefaultConfig()
	cfg.AllowNonDurable, cfg.StateDir = true, t.TempDir()
	for range 2 {
		j := journal.New(open(t, redisdb.Embedded, ""), cfg, quiet())
		begun(t, j, create())
		if health := watched(t, j); !health.PausedAt.IsZero() {
			t.Errorf("paused since %v", health.PausedAt)
		}
	}
}
