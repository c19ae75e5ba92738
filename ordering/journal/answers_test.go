package journal_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"larder.local/internal/testkit/redistest"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// between starts a proxy of Redis. requests and replies copy one direction of a connection until it ends.
func between(t *testing.T, target string, requests, replies func(to io.Writer, from io.Reader)) (addr string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target) //nolint:noctx // loopback
			if err != nil {
				_ = client.Close()
				continue
			}
			all.Go(func() { requests(server, client); _ = server.Close() })
			all.Go(func() { replies(client, server); _ = client.Close() })
		}
	})
	return listener.Addr().String()
}

func unchanged(to io.Writer, from io.Reader) { _, _ = io.Copy(to, from) }

// rewriting starts a proxy of Redis that replaces texts in each line of the replies. The length of a bulk string must not change.
func rewriting(t *testing.T, target string, replace *strings.Replacer) (addr string) {
	t.Helper()
	return between(t, target, unchanged, func(to io.Writer, from io.Reader) {
		for replies := bufio.NewReader(from); ; {
			line, err := replies.ReadString('\n') // every reply ends with a line break
			line = replace.Replace("\n" + line)[1:]
			if _, wrote := io.WriteString(to, line); err != nil || wrote != nil {
				return
			}
		}
	})
}

// answers is a proxy of Redis that sends a script instead of some commands. The result of the script is the reply to the command.
type answers struct {
	addr string

	mu      sync.Mutex
	scripts map[string]string // by command, in lower case
}

func answering(t *testing.T, target string, scripts map[string]string) *answers {
	t.Helper()
	a := &answers{scripts: scripts}
	a.addr = between(t, target, a.requests, unchanged)
	return a
}

func (a *answers) url() string { return "redis://" + a.addr + "/0" }

func (a *answers) set(scripts map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scripts = scripts
}

func (a *answers) requests(to io.Writer, from io.Reader) {
	for r := bufio.NewReader(from); ; {
		command, request, err := readRequest(r)
		if err != nil {
			return
		}
		a.mu.Lock()
		script, ok := a.scripts[strings.ToLower(command)]
		a.mu.Unlock()
		if ok {
			request = fmt.Sprintf("*3\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n0\r\n", len(script), script)
		}
		if _, err := io.WriteString(to, request); err != nil {
			return
		}
	}
}

// readRequest reads an array of strings, and returns its first string.
func readRequest(r *bufio.Reader) (command, request string, err error) {
	var read strings.Builder
	number := func() int {
		line, failed := r.ReadString('\n')
		read.WriteString(line)
		n, wrong := strconv.Atoi(strings.TrimSpace(strings.TrimLeft(line, "*$")))
		err = errors.Join(err, failed, wrong)
		return n
	}
	for words := number(); words > 0 && err == nil; words-- {
		word := make([]byte, number()+len("\r\n"))
		_, failed := io.ReadFull(r, word)
		err = errors.Join(err, failed)
		read.Write(word)
		if command == "" {
			command = strings.TrimSpace(string(word))
		}
	}
	return command, read.String(), err
}

const (
	waitsForNone = "return 0"
	fails        = "return redis.error_reply('ERR this service is not in the mood')"
)

// A proxy answers WAIT with 0 although a replica has every write. No write counts as acknowledged.
func TestWaitIsAnsweredWithZero_O14b(t *testing.T) {
	t.Parallel()
	const tooFew = "too few replicas of Redis acknowledge writes (1 needed; 1 replica is attached)"
	for name, test := range map[string]struct {
		options []redistest.Option
		change  func(*ordering.Config)
		want    string // part of the message; empty: orders are placed
	}{
		"automatic":       {[]redistest.Option{redistest.AppendOnly()}, nil, ""},
		"wait_replicas 1": {[]redistest.Option{redistest.AppendOnly()}, func(c *ordering.Config) { c.WaitReplicas = new(1) }, tooFew},
		"by replicas":     {nil, byReplicas(1), tooFew},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, _ := restricted(t, 1, nil, test.options...)
			cfg := ordering.DefaultConfig()
			if test.change != nil {
				test.change(&cfg)
			}
			proxy := answering(t, master.Addr(), map[string]string{"wait": waitsForNone})
			j := journal.New(open(t, proxy.url(), ""), cfg, quiet())
			wantNotReady(t, j.Ready(t.Context(), main), test.want, 5*time.Second)
			o := create()
			_, err := j.Begin(t.Context(), o)
			health := watched(t, j)
			if test.want == "" {
				const rule = "no replica of Redis has ever acknowledged a write, although 1 replica is attached: a failover can lose orders"
				if err != nil || !strings.Contains(health.Rule(), rule) {
					t.Errorf("Begin = %v, the rule is %q; want the order placed and %q", err, health.Rule(), rule)
				}
			} else {
				if !errors.Is(err, journal.ErrReplicas) || !health.Failing {
					t.Errorf("Begin = %v, failing %t; want ErrReplicas", err, health.Failing)
				}
				if _, _, err := j.Lookup(t.Context(), main, o.Key); !errors.Is(err, ordering.ErrKeyFree) {
					t.Errorf("Lookup = %v, want the key free", err)
				}
			}
			if kept := master.Client().HGet(t.Context(), "larder:{o:main}:f1:journal", "replicated").Val(); health.Seen || kept != "" {
				t.Errorf("a replica counts as acknowledging: %+v, replicated %q in Redis", health, kept)
			}
		})
	}
}

// A replica has acknowledged, and then WAIT is answered with 0: a sent order stays unacknowledged, and no other is sent.
func TestWaitIsAnsweredWithZeroLater_O14b(t *testing.T) {
	t.Parallel()
	master, _ := restricted(t, 1, nil)
	cfg := ordering.DefaultConfig()
	byReplicas(1)(&cfg)
	proxy := answering(t, master.Addr(), nil)
	j := journal.New(open(t, proxy.url(), ""), cfg, quiet())
	ready(t, j)
	o := create()
	r := begun(t, j, o)
	proxy.set(map[string]string{"wait": waitsForNone})
	e := ordering.CallResult{Connection: main, Ref: r.Ref, Call: 1, SpecID: o.ID, Outcome: ordering.OutcomeDone, OrderID: "765"}
	for range 2 {
		if _, err := j.Finish(t.Context(), e); !errors.Is(err, ordering.ErrUnreplicated) {
			t.Errorf("Finish = %v, want ErrUnreplicated", err)
		}
	}
	if _, err := j.Begin(t.Context(), create()); !errors.Is(err, journal.ErrReplicas) {
		t.Errorf("Begin = %v, want ErrReplicas", err)
	}
	if health := watched(t, j); !health.Failing {
		t.Errorf("Watch = %+v, want it failing", health)
	}
	proxy.set(nil)
	succeeds(t, "the completion is acknowledged", func() error { _, err := j.Finish(t.Context(), e); return err })
	begun(t, j, create())
}

// An error without a known reason is not called a missing right or a missing command.
func TestErrorWithoutReason_O14b(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scripts map[string]string
		want    []string
		allow   func(*ordering.Config) // what then allows orders; nil: nothing
	}{
		"WAIT": {
			map[string]string{"wait": fails},
			[]string{"(WAIT is answered with an error: ERR; 1 replica is attached): find out why", "ordering.wait_replicas: 0"},
			func(c *ordering.Config) { c.WaitReplicas = new(0) },
		},
		"INFO": {
			map[string]string{"info": fails},
			[]string{"whether it evicts orders (INFO is answered with an error: ERR)", "whether it writes orders to disk (INFO is answered with an error: ERR)"},
			func(c *ordering.Config) { c.AllowEviction, c.AllowNonDurable = true, true },
		},
		"EVAL": {map[string]string{"eval": fails, "evalsha": fails}, []string{"Redis answers with an error: ERR"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, _ := restricted(t, 1, nil, redistest.AppendOnly())
			db, cfg := open(t, answering(t, master.Addr(), test.scripts).url(), ""), ordering.DefaultConfig()
			err := journal.New(db, cfg, quiet()).Ready(t.Context(), main)
			for _, want := range test.want {
				wantNotReady(t, err, want, time.Minute)
			}
			for _, unknown := range []string{"refuse", "allow it", "ACL", "that has", "mood"} {
				if err == nil || strings.Contains(err.Error(), unknown) {
					t.Errorf("Ready = %v, which says %q", err, unknown)
				}
			}
			if test.allow == nil {
				return
			}
			test.allow(&cfg)
			if err := journal.New(db, cfg, quiet()).Ready(t.Context(), main); err != nil {
				t.Errorf("with the settings: %v", err)
			}
		})
	}
}

// A slot moves to another master, and larder does not know yet. EVAL is answered with MOVED, which is no fault.
func TestMovedIsNoFault_O14b(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 0, redistest.AppendOnly(), redistest.Patient())
	j := journal.New(open(t, cluster.URL(), ""), ordering.DefaultConfig(), quiet())
	ready(t, j)
	begun(t, j, create())
	const state = "larder:{o:main}:f1:journal"
	from := cluster.MasterOf(state)
	to := cluster.Nodes()[0]
	if to == from {
		to = cluster.Nodes()[1]
	}
	moveSlot(t, from, to, state)
	if err := from.Client().Eval(t.Context(), "return 1", []string{state}).Err(); err == nil || !strings.HasPrefix(err.Error(), "MOVED ") {
		t.Fatalf("EVAL = %v, want MOVED", err)
	}
	j.AgeSettings(main, time.Minute)
	wantNotReady(t, j.Ready(t.Context(), main), "", 0)
	succeeds(t, "orders are placed at the other master", func() error { _, err := j.Begin(t.Context(), create()); return err })
}

// moveSlot moves all keys of a key's slot to another master.
func moveSlot(t *testing.T, from, to *redistest.Server, key string) {
	t.Helper()
	ctx, source, target := t.Context(), from.Client(), to.Client()
	slot := source.ClusterKeySlot(ctx, key).Val()
	own, next := source.Do(ctx, "CLUSTER", "MYID").Val(), target.Do(ctx, "CLUSTER", "MYID").Val()
	host, port, _ := strings.Cut(to.Addr(), ":")
	err := errors.Join(
		target.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", own).Err(),
		source.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", next).Err(),
	)
	keys := source.ClusterGetKeysInSlot(ctx, int(slot), 1000).Val()
	if len(keys) == 0 {
		t.Fatal("the slot has no keys")
	}
	for _, name := range keys {
		err = errors.Join(err, source.Migrate(ctx, host, port, name, 0, 5*time.Second).Err())
	}
	err = errors.Join(err,
		target.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", next).Err(),
		source.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", next).Err())
	if err != nil {
		t.Fatal(err)
	}
}
