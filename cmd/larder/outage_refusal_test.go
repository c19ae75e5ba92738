package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/redistest"
)

// A Redis that responds but rejects writes is reported in the log and on /readyz.
// Syncs pause, no order is sent, and all reads work. When Redis accepts writes again,
// everything recovers by itself, with one catch-up sync (policy S5).
func TestRedisRejectsWrites(t *testing.T) {
	t.Parallel()
	for class, setting := range map[string]struct{ name, bad, good string }{
		"OOM":        {"maxmemory", "1mb", "0"},
		"NOREPLICAS": {"min-replicas-to-write", "1", "0"},
	} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			o := newOutage(t)
			p := o.start(t)
			base := o.serving(t, p)
			client := shopper(t, base)
			if status, _, body := o.place(t, client, "before"); status != http.StatusCreated {
				t.Fatalf("an order before: %d %s", status, body)
			}
			o.well(t, base)
			reading := o.read(t, base)
			o.stop(t, o.restaurants[0], true)
			o.shows(t, base, o.restaurants[0], true)
			set := func(value string) {
				if err := o.redis.Client().ConfigSet(t.Context(), setting.name, value).Err(); err != nil {
					t.Fatal(err)
				}
			}

			set(setting.bad)
			p.log.Find(t, `"msg":"Redis refuses writes: `+class+`: `)
			o.refused(t, base, "writes: "+class, class)
			o.refuses(t, client)
			o.pauses(t, base)
			o.stop(t, o.restaurants[0], false) // it is not published yet

			set(setting.good)
			p.log.Find(t, `"msg":"Redis accepts writes again`)
			o.shows(t, base, o.restaurants[0], false)
			clitest.Eventually(t, "an order is placed again", func() bool {
				status, _, _ := o.place(t, client, "after")
				return status == http.StatusCreated
			})
			if _, orders := o.calls(t); orders != 2 {
				t.Errorf("the ordering service got %d orders, want those before and after", orders)
			}
			o.well(t, base)
			reading.stop().whole(t, len(o.restaurants)+2)
			p.wantCatchUps(t)
		})
	}
}

// well waits until readiness is ok.
func (o *outage) well(t *testing.T, base string) {
	t.Helper()
	clitest.Eventually(t, "readiness is ok", func() bool {
		status, body := clitest.Fetch(t, base+"/readyz")
		return status == http.StatusOK && strings.Contains(body, `"status":"ok"`)
	})
}

// refused checks that readiness is 200 and degraded by Redis and, if orders are
// rejected too, by the journal. It contains no address.
func (o *outage) refused(t *testing.T, base, redis, journal string) {
	t.Helper()
	if status, body := clitest.Fetch(t, base+"/readyz"); status != http.StatusOK || body != `{"status":"degraded"}` {
		t.Errorf("readiness: %d %s, want 200 and degraded", status, body)
	}
	_, body := clitest.Fetch(t, base+"/readyz?verbose")
	parts := clitest.FromJSON[struct {
		Parts struct {
			Redis, Journal struct {
				OK  bool
				Msg string
			}
		}
	}](t, body).Parts
	if parts.Redis.OK || !strings.HasPrefix(parts.Redis.Msg, "refuses "+redis) {
		t.Errorf("Redis's part: %+v, want that it refuses %s", parts.Redis, redis)
	}
	if ok := journal == ""; parts.Journal.OK != ok || !strings.Contains(parts.Journal.Msg, journal) {
		t.Errorf("the journal's part: %+v, want %q", parts.Journal, journal)
	}
	if strings.Contains(body, "127.0.0.1") {
		t.Errorf("readiness names an address: %s", body)
	}
}

// acl creates a Redis user with the rules and configures it for larder.
func (o *outage) acl(t *testing.T, rules ...string) {
	t.Helper()
	args := []any{"ACL", "SETUSER", "larder", "reset", "on", ">a-long-password"}
	for _, rule := range rules {
		args = append(args, rule)
	}
	if err := o.redis.Client().Do(t.Context(), args...).Err(); err != nil {
		t.Fatal(err)
	}
	o.config = o.configuration(t, "redis://larder:a-long-password@"+o.toRedis.Addr()+"/0")
}

// check --online says what to correct in redis.url, without texts of Redis.
func TestCheckOnlineSaysWhatToCorrectInRedisURL(t *testing.T) {
	t.Parallel()
	single, replica := redistest.Start(t), redistest.Start(t)
	if err := replica.Client().ReplicaOf(t.Context(), "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		replica.URL():                        `refuses writes: READONLY: it is a read-only replica: write the master's address in redis.url, or use redis\+sentinel://`,
		"redis://" + single.Addr() + "/99":   "answers with an error: ERR: it does not have the database of redis.url: write a smaller number after the host, such as /0",
		"redis+cluster://" + single.Addr():   "answers with an error: ERR: it is not a cluster: write redis:// in redis.url",
		"redis://nobody:no@" + single.Addr(): "answers with an error: WRONGPASS: wrong user or password",
		"rediss://" + single.Addr():          `no Redis answers at \S+ \(timeout\): start it, or correct redis.url; if it has no TLS, write redis instead of rediss there`,
	} {
		got := command{env: []string{"LARDER_REDIS_URL=" + address}}.run(t, "check", "--online", "--config", "../../configs/demo.yaml")
		if !regexp.MustCompile(`(?m)^FAILED  redis: (\(.*\) )?` + want + "$").MatchString(got.Out) {
			t.Errorf("%s: %+v, want %q", address, got, want)
		}
	}
}

// A user without all rights could take leases and publish nothing. Larder names the rights,
// on the command line too, and recovers by itself when the user gets them.
func TestRedisUserWithoutRights_H14(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	o.acl(t, "~*", "+@all", "resetchannels", "-hset")
	const lacks = "refuses commands: NOPERM: its user lacks rights: run ACL SETUSER NAME "
	const both = lacks + "'&larder:*' +hset in Redis (docs/redis.md#rights)"
	if got := larder(t, "check", "--online", "--config", o.config); got.Status != cli.StatusFailed || !strings.Contains(got.Out, "FAILED  redis: ") ||
		!strings.Contains(got.Out, both+"\nFAILED  orders: not tested: Redis refuses commands\n") {
		t.Errorf("check --online: %+v", got)
	}
	tried, _ := o.calls(t)
	p := o.start(t)
	base := p.url(t)
	p.log.Find(t, `"class":"NOPERM"[^\n]*"msg":"Redis `+regexp.QuoteMeta(both))
	if status, body := clitest.Fetch(t, base+"/readyz?verbose"); status != http.StatusServiceUnavailable || !strings.Contains(body, strings.ReplaceAll(both, "&", `\u0026`)) && !strings.Contains(body, both) {
		t.Errorf("readiness before any menu: %d %s, want 503 and the rights", status, body)
	}
	if got := larder(t, "status", "--url", base); !strings.Contains(got.Out, both) {
		t.Errorf("status: %+v, want the rights", got)
	}
	if menus, _ := o.calls(t); menus != tried {
		t.Errorf("%d menus were pulled that nobody could publish", menus-tried)
	}
	if err := o.redis.Client().Do(t.Context(), "ACL", "SETUSER", "larder", "&larder:*", "+hset").Err(); err != nil {
		t.Fatal(err)
	}
	o.serving(t, p)
	o.well(t, base)

	// The permission is removed while larder runs. Orders need no channel.
	if err := o.redis.Client().Do(t.Context(), "ACL", "SETUSER", "larder", "resetchannels", "&larder:f1:notices").Err(); err != nil {
		t.Fatal(err)
	}
	clitest.Eventually(t, "syncs pause again", func() bool { return p.lines("sync.paused") == 2 })
	o.refused(t, base, strings.TrimPrefix(lacks, "refuses ")+"'&larder:*' in", "")
	if status, _, body := o.place(t, shopper(t, base), "meanwhile"); status != http.StatusCreated {
		t.Errorf("an order: %d %s, want 201", status, body)
	}

	// So is a command: the first run that fails finds it.
	if err := o.redis.Client().Do(t.Context(), "ACL", "SETUSER", "larder", "&larder:*").Err(); err != nil {
		t.Fatal(err)
	}
	o.well(t, base)
	if err := o.redis.Client().Do(t.Context(), "ACL", "SETUSER", "larder", "-eval", "-evalsha", "-zadd").Err(); err != nil {
		t.Fatal(err)
	}
	clitest.Eventually(t, "syncs pause again", func() bool { return p.lines("sync.paused") == 3 })
	o.refused(t, base, strings.TrimPrefix(lacks, "refuses ")+"+eval +evalsha", "+eval +evalsha")
	got := larder(t, "order", "list", "--url", base, "--client-id", "ops", "--client-secret", "ops-secret")
	if !strings.Contains(got.Err, "ACL SETUSER NAME +eval +evalsha") || strings.Contains(got.Err, "does not answer") {
		t.Errorf("order list: %+v, want the rights", got)
	}
}
