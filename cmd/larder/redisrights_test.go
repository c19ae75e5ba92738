package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/redistest"
)

// documentedRights returns the words after `ACL SETUSER NAME` of a command in docs/redis.md.
func documentedRights(t *testing.T, user string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.ReplaceAll(string(text), "\\\n", " ")
	found := regexp.MustCompile(`(?m)^redis-cli (?:-p \d+ )?ACL SETUSER ` + user + ` (.*)$`).FindStringSubmatch(whole)
	if found == nil {
		t.Fatalf("docs/redis.md has no ACL SETUSER %s", user)
	}
	words := strings.Fields(found[1])
	for i := range words {
		words[i] = strings.Trim(words[i], "'")
	}
	return words
}

// grant creates the documented user on a server.
func grant(t *testing.T, server *redistest.Server, user string, rights []string) *redis.Client {
	t.Helper()
	client := server.Client()
	command := []any{"ACL", "SETUSER", user}
	for _, word := range rights {
		command = append(command, word)
	}
	if err := client.Do(t.Context(), command...).Err(); err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	return client
}

// refusals returns the entries of the server's ACL LOG.
func refusals(ctx context.Context, t *testing.T, client *redis.Client) (lines []string) {
	t.Helper()
	entries, err := client.ACLLog(ctx, 100).Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		lines = append(lines, entry.Username+": "+entry.Reason+" "+entry.Object+" ("+entry.Context+")")
	}
	return lines
}

var usedPattern = regexp.MustCompile(`(?m)^cmdstat_([^:]+):calls=(\d+)`)

// used returns the commands that a server has executed, also those of scripts.
func used(t *testing.T, client *redis.Client) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, found := range usedPattern.FindAllStringSubmatch(client.Info(t.Context(), "commandstats").Val(), -1) {
		all[found[1]] = true
	}
	return all
}

// rareCommands has the script of each command that this test does not cause: a quarantined menu is deleted, and an
// unused content.
var rareCommands = map[string]string{"hstrlen": "cache/quarantine.lua", "unlink": "cache/sweep.lua"}

// allUsed has the commands that larder has executed on the servers of every topology.
type allUsed struct {
	mu  sync.Mutex
	all map[string]bool
}

// everything does with two instances what needs Redis.
func (o *outage) everything(t *testing.T, withUser func(config string) string) {
	t.Helper()
	o.config = withUser(o.config)
	bases := []string{o.serving(t, o.start(t)), o.serving(t, o.start(t))}
	for _, stopped := range []bool{true, false} {
		o.stop(t, o.restaurants[0], stopped)
		for _, base := range bases {
			o.shows(t, base, o.restaurants[0], stopped)
		}
	}
	shop := shopper(t, bases[0])
	for _, key := range []string{"one", "one", "two"} { // the second is a replay
		if status, _, body := o.place(t, shop, key); status != http.StatusCreated && status != http.StatusOK {
			t.Fatalf("an order: %d %s", status, body)
		}
	}
	must(t, "check", "--online", "--config", o.config)
	for _, args := range [][]string{
		{"sync", "--all"},
		{"sync", o.restaurants[0], "--force"},
		{"order", "list"},
		{"order", "list", "--state", "unknown"},
		{"menu", "versions", o.restaurants[0]},
		{"menu", "rollback", o.restaurants[0], "1"},
		{"menu", "release", o.restaurants[0]},
	} {
		got := larder(t, append(args, "--config", o.config, "--url", bases[0], "--client-id", "ops", "--client-secret", "ops-secret")...)
		if strings.Contains(got.Err, "NOPERM") || strings.Contains(got.Err, "edis") {
			t.Errorf("%v: %s%s", args, got.Out, got.Err)
		}
	}
	o.readsRuns(t, bases)
	must(t, "token", "rotate-key", "--config", o.config)
	must(t, "token", "rotate-key", "--keep-tokens", "--config", o.config)
	for _, base := range bases {
		clitest.Eventually(t, "a token of the new key works", func() bool {
			token, err := demoToken(t.Context(), base, "ops")
			return err == nil && opsStatus(t, bases[0], "Authorization", "Bearer "+token) == http.StatusOK
		})
	}
}

// readsRuns causes failed runs, and reads one of each instance at the other.
func (o *outage) readsRuns(t *testing.T, bases []string) {
	t.Helper()
	o.toService.Refuse()
	larder(t, "sync", "--all", "--config", o.config, "--url", bases[0], "--client-id", "ops", "--client-secret", "ops-secret")
	o.toService.Pass()
	token, err := demoToken(t.Context(), bases[0], "ops")
	if err != nil {
		t.Fatal(err)
	}
	runs := clitest.FromJSON[struct{ Result []struct{ ID string } }](t, getAs(t, bases[0]+"/v1/ops/runs", token)).Result
	if len(runs) == 0 {
		t.Fatal("no runs")
	}
	for _, run := range runs[:min(len(runs), 5)] {
		for _, base := range bases {
			getAs(t, base+"/v1/ops/runs/"+run.ID, token)
		}
	}
}

// getAs returns the body of a successful request with a token.
func getAs(t *testing.T, address, token string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s %v", address, response.Status, body, err)
	}
	return string(body)
}

// askedFor moves the signing key to another master while its slot moves: a read is answered with ASK, and needs the
// right to ASKING.
func askedFor(t *testing.T, nodes []*redistest.Server) {
	t.Helper()
	const name = "larder:f1:signing-key"
	ctx := t.Context()
	var from, to *redis.Client
	for _, node := range nodes {
		client := node.Client()
		if !node.IsMaster(ctx) {
			continue
		}
		if client.Exists(ctx, name).Err() == nil { // the others answer MOVED
			from = client
		} else {
			to = client
		}
	}
	slot := from.ClusterKeySlot(ctx, name).Val()
	id := func(client *redis.Client) string { return client.Do(ctx, "CLUSTER", "MYID").Val().(string) } //nolint:forcetypeassert,errcheck // it is a text
	host, port, _ := strings.Cut(to.Options().Addr, ":")
	err := errors.Join(
		to.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", id(from)).Err(),
		from.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", id(to)).Err(),
		from.Migrate(ctx, host, port, name, 0, 5*time.Second).Err(),
	)
	if err != nil {
		t.Fatal(err)
	}
	clitest.Eventually(t, "larder follows ASK", func() bool { return used(t, to)["asking"] })
	if lines := refusals(ctx, t, to); len(lines) > 0 {
		t.Errorf("refused: %v", lines)
	}
}

// H14: larder needs exactly the rights that docs/redis.md lists.
func TestDocumentedRedisRights_H14(t *testing.T) { //nolint:tparallel // the group waits for its subtests
	t.Parallel()
	rights := documentedRights(t, "larder")
	commands := slices.DeleteFunc(slices.Clone(rights), func(right string) bool { return !strings.HasPrefix(right, "+") })
	if want := redisdb.Rights(); !slices.Equal(slices.Sorted(slices.Values(commands)), slices.Sorted(slices.Values(want))) {
		t.Errorf("docs/redis.md grants %v, larder tests %v", commands, want)
	}
	sum := &allUsed{all: map[string]bool{}}
	t.Run("topologies", func(t *testing.T) {
		for name, start := range map[string]func(t *testing.T) (nodes, sentinels []*redistest.Server, url string){
			"one server": func(t *testing.T) (nodes, sentinels []*redistest.Server, url string) {
				t.Helper()
				s := redistest.Start(t, redistest.AppendOnly())
				return []*redistest.Server{s}, nil, strings.TrimSuffix(s.URL(), "/0") + "/1" // another database needs SELECT
			},
			"Sentinel": func(t *testing.T) (nodes, sentinels []*redistest.Server, url string) {
				t.Helper()
				s := redistest.StartSentinel(t, redistest.AppendOnly(), redistest.Patient())
				return s.Nodes(), s.Sentinels(), s.URL()
			},
			"Cluster": func(t *testing.T) (nodes, sentinels []*redistest.Server, url string) {
				t.Helper()
				s := redistest.StartCluster(t, 1, redistest.AppendOnly(), redistest.Patient())
				return s.Nodes(), nil, s.URL()
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				nodes, sentinels, address := start(t)
				var watched []*redis.Client
				for _, node := range nodes {
					client := grant(t, node, "larder", rights)
					watched = append(watched, client)
					if err := client.ConfigResetStat(t.Context()).Err(); err != nil {
						t.Fatal(err)
					}
				}
				for _, sentinel := range sentinels {
					watched = append(watched, grant(t, sentinel, "larder-sentinel", documentedRights(t, "larder-sentinel")))
				}
				o := newOutageOn(t, strings.Replace(address, "://", "://larder:PASSWORD@", 1))
				o.everything(t, func(config string) string {
					if sentinels == nil {
						return config
					}
					text, err := os.ReadFile(config)
					if err != nil {
						t.Fatal(err)
					}
					return clitest.WriteFile(t, "larder.yaml", strings.Replace(string(text), "redis: {",
						"redis: {sentinel_username: larder-sentinel, sentinel_password: PASSWORD, ", 1))
				})
				for _, client := range watched {
					if lines := refusals(t.Context(), t, client); len(lines) > 0 {
						t.Errorf("%s refused: %s", client.Options().Addr, strings.Join(lines, "; "))
					}
				}
				if name == "Cluster" {
					askedFor(t, nodes)
				}
				sum.mu.Lock()
				defer sum.mu.Unlock()
				for _, client := range watched[:len(nodes)] {
					now := used(t, client)
					maps.Copy(sum.all, now)
				}
				t.Logf("%s: %v", name, slices.Sorted(maps.Keys(sum.all)))
			})
		}
	})
	for _, right := range rights {
		command, ok := strings.CutPrefix(right, "+")
		if !ok || sum.all[command] {
			continue
		}
		script, err := os.ReadFile("../../" + rareCommands[command])
		if err != nil || !strings.Contains(string(script), strconv.Quote(strings.ToUpper(command))) {
			t.Errorf("docs/redis.md grants %s, which larder does not use", command)
		}
	}
}

// A program with the documented user reads the catalogue, and nothing else.
func TestCatalogueReaderHasNoSecrets_H14(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.AppendOnly())
	o := newOutageOn(t, server.URL())
	base := o.serving(t, o.start(t))
	if status, _, body := o.place(t, shopper(t, base), "one"); status != http.StatusCreated {
		t.Fatalf("an order: %d %s", status, body)
	}
	admin := grant(t, server, "catalogue-reader", documentedRights(t, "catalogue-reader"))
	reader := redis.NewClient(&redis.Options{Addr: server.Addr(), Username: "catalogue-reader", Password: "READER_PASSWORD", DisableIdentity: true})
	t.Cleanup(func() { _ = reader.Close() })
	ctx := t.Context()
	current := reader.HGetAll(ctx, "larder:{r:"+o.restaurants[0]+"}:current").Val()
	if len(reader.HGetAll(ctx, current["index"]+":products").Val()) == 0 {
		t.Errorf("the reader gets no products: %v", current)
	}
	stopped := "larder:{r:" + o.restaurants[0] + "}:v:" + current["version"] + ":stopped"
	if err := errors.Join(reader.SMembers(ctx, stopped).Err(), reader.Subscribe(ctx, "larder:f1:notices").Ping(ctx)); err != nil {
		t.Error(err)
	}
	catalogue := regexp.MustCompile(`^larder:\{(r:[^}]*\}:(current$|v:)|c:)`)
	secrets := 0
	for _, key := range admin.Keys(ctx, "larder:*").Val() {
		readable := admin.Do(ctx, "ACL", "DRYRUN", "catalogue-reader", "HGETALL", key).Val() == "OK"
		if readable != catalogue.MatchString(key) {
			t.Errorf("the reader may read %s: %t", key, readable)
		}
		if !readable {
			secrets++
		}
		if err := reader.Del(ctx, key).Err(); err == nil || !strings.Contains(err.Error(), "NOPERM") {
			t.Errorf("the reader deletes %s: %v", key, err)
		}
	}
	if secrets < 5 || admin.Exists(ctx, signingKeyName).Val() != 1 {
		t.Errorf("%d keys are not of the catalogue, or there is no signing key", secrets)
	}
	if err := reader.Publish(ctx, "larder:f1:notices", "1 x").Err(); err == nil {
		t.Error("the reader publishes")
	}
}

// Key patterns that miss keys are found by check and by /readyz?verbose, each where it matters.
func TestKeyPatternsThatMissKeys_H14(t *testing.T) {
	t.Parallel()
	const lacks = "refuses commands: NOPERM: its user lacks rights: run ACL SETUSER NAME '~larder:*' in"
	const (
		orders  = `"journal":{"ok":false,"msg":"Redis ` + lacks
		redis   = `"redis":{"ok":false,"msg":"` + lacks
		signing = `"redis":{"ok":false,"msg":"the signing keys cannot be read, so tokens are rejected, or revocations not noticed: Redis ` + lacks
	)
	for name, test := range map[string]struct{ keys, ready string }{
		"keys of requests": {"~larder:f* ~larder:{[^o]* ~larder:{o:main}:f1:[^k]*", orders},
		"orders":           {"~larder:f* ~larder:{[^o]*", orders},
		"the secret":       {"~larder:{* ~larder:f4:* ~larder:f1:[^j]*", orders},
		"the signing key":  {"~larder:{* ~larder:f4:* ~larder:f1:[^s]*", signing},
		"quarantined":      {"~larder:f* ~larder:{[^q]*", redis},
		"batches":          {"~larder:f* ~larder:{[^b]*", redis},
		"menus":            {"~larder:f* ~larder:{[^rc]*", redis},
		"schemes":          {"~larder:f* ~larder:{[^c]* ~larder:{c:*}:f4:* ~larder:{c:*}:products", redis},
		"progress":         {"~larder:f* ~larder:{[^b]* ~larder:{b:*}:f1:b*", redis},
		"sources":          {"~larder:f* ~larder:{[^r]* ~larder:{r:*}:current ~larder:{r:*}:f* ~larder:{r:*}:v:*", redis},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, redistest.AppendOnly())
			o := newOutageOn(t, strings.Replace(server.URL(), "://", "://larder:PASSWORD@", 1))
			grant(t, server, "larder", slices.Concat([]string{"reset", "on", ">PASSWORD", "&*", "+@all"}, strings.Fields(test.keys)))
			checked := larder(t, "check", "--online", "--config", o.config)
			said := lacks
			if test.ready == orders {
				said = "orders: cannot be placed: Redis " + lacks
			}
			if checked.Status != cli.StatusFailed || !strings.Contains(checked.Out, said) {
				t.Errorf("check --online: %+v", checked)
			}
			p := o.start(t)
			base := p.url(t)
			ready := ""
			clitest.Eventually(t, "/readyz?verbose names it", func() bool {
				_, ready = clitest.Fetch(t, base+"/readyz?verbose")
				return strings.Contains(ready, test.ready)
			})
			paused := func() bool { return strings.Contains(p.log.String(), "sync.paused") }
			if test.ready == redis {
				clitest.Eventually(t, "syncs pause", paused)
			} else if paused() {
				t.Error("syncs pause")
			}
		})
	}
}

// The same while larder runs: within seconds for what orders and tokens need, within about a minute for the rest.
func TestRightsRemovedWhileLarderRuns_H14(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keys, ready string
		placed      int
	}{
		"orders":      {"~larder:f* ~larder:{[^o]*", `"journal":{"ok":false,"msg":"Redis refuses commands`, http.StatusServiceUnavailable},
		"signing":     {"~larder:{* ~larder:f4:* ~larder:f1:[^s]*", `"msg":"the signing keys cannot be read`, http.StatusCreated},
		"quarantined": {"~larder:f* ~larder:{[^q]*", `"redis":{"ok":false,"msg":"refuses commands: NOPERM`, http.StatusCreated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, redistest.AppendOnly())
			o := newOutageOn(t, strings.Replace(server.URL(), "://", "://larder:PASSWORD@", 1))
			grant(t, server, "larder", []string{"reset", "on", ">PASSWORD", "&*", "+@all", "~larder:*"})
			base := o.serving(t, o.start(t))
			shop := shopper(t, base)
			o.well(t, base)
			grant(t, server, "larder", append([]string{"resetkeys"}, strings.Fields(test.keys)...))
			ready := ""
			clitest.Eventually(t, "/readyz?verbose names it", func() bool {
				_, ready = clitest.Fetch(t, base+"/readyz?verbose")
				return strings.Contains(ready, test.ready)
			})
			if well := strings.Contains(ready, `"journal":{"ok":true`); well != (test.placed == http.StatusCreated) {
				t.Errorf("readiness: %s", ready)
			}
			if status, _, body := o.place(t, shop, "key"); status != test.placed {
				t.Errorf("an order: %d %s, want %d", status, body, test.placed)
			}
			grant(t, server, "larder", []string{"~larder:*"})
			o.well(t, base)
		})
	}
}
