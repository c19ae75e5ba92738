package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"larder.local/cache"
	"larder.local/configs"
	"larder.local/internal/menu"
	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// onlineLimit is the timeout of all tests of one service.
const onlineLimit = time.Minute

// finding is the result of one check.
type finding struct {
	Subject          string `json:"subject"`
	OK               bool   `json:"ok"`
	Msg              string `json:"msg"`
	configs.Position        // of a configuration error
	Key              string `json:"key,omitempty"`
}

func checkCommand(env *Environment) *cobra.Command {
	cmd := NewCommand("larder", "check --config FILE", env.check)
	cmd.Flags().Bool("online", false, "also test Redis and the ordering services")
	AddConfig(cmd)
	AddUnknownKeys(cmd)
	AddJSON(cmd)
	return cmd
}

func (env *Environment) check(cmd *cobra.Command, _ []string) error {
	cfg, err := LoadService(cmd, env, configs.Thorough)
	var faults configs.Errors
	if AsJSON(cmd) && errors.As(err, &faults) {
		return report(cmd, env, Mapped(faults, func(f *configs.Error) finding {
			return finding{Subject: "configuration", Msg: f.Msg, Position: f.Position, Key: f.Key}
		}))
	}
	if err != nil {
		return err
	}
	findings := []finding{newFinding("configuration", fmt.Sprintf("valid: %s, %s, %s",
		Plural(len(cfg.Connections), "connection", "connections"),
		Plural(len(cfg.Restaurants), "restaurant", "restaurants"),
		Plural(len(cfg.Auth.Clients), "client", "clients")), nil)}
	for _, warning := range cfg.Warnings() {
		findings = append(findings, newFinding("warning", warning, nil))
	}
	if BoolFlag(cmd, "online") {
		findings = append(findings, checkStateDir(cfg.Ordering.StateDir)...)
		findings = append(findings, checkRedis(cmd.Context(), cfg)...)
		for i := range cfg.Connections {
			findings = append(findings, checkConnection(cmd.Context(), cfg, i)...)
		}
	}
	return report(cmd, env, findings)
}

// newFinding returns the finding of a check that returned err; ok is the message of success.
func newFinding(what, ok string, err error) finding {
	if err != nil {
		return finding{Subject: what, Msg: stripPackage(err.Error())}
	}
	return finding{Subject: what, OK: true, Msg: ok}
}

// checkStateDir reports whether this user can write to ordering.state_dir (policy
// O14a) or create it. It creates nothing, because another user may have to own it.
func checkStateDir(dir string) []finding {
	if dir == "" {
		return nil
	}
	existing := filepath.Clean(dir)
	_, err := os.Stat(existing)
	for ; errors.Is(err, fs.ErrNotExist) && filepath.Dir(existing) != existing; _, err = os.Stat(existing) {
		existing = filepath.Dir(existing)
	}
	if err == nil {
		var probe string
		if probe, err = os.MkdirTemp(existing, ".larder-check-*"); err == nil {
			err = os.Remove(probe)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s is not writable (%w): grant the user who runs larder write access, or set another directory", dir, err)
	}
	f := newFinding("ordering.state_dir", dir+" can be written", err)
	f.Key = f.Subject
	return []finding{f}
}

// checkRedis tests that Redis accepts larder's commands and, if clients may place
// orders, that it is durable (policy O14).
func checkRedis(ctx context.Context, cfg *configs.Config) []finding {
	ctx, cancel := context.WithTimeout(ctx, onlineLimit)
	defer cancel()
	redis, err := redisdb.Open(cfg.Redis, silentlog.New())
	if err != nil {
		return []finding{newFinding("redis", "", err)}
	}
	defer func() { _ = redis.Close() }() // it was only read
	info, err := redis.ServerInfo(ctx)
	if err == nil {
		keys := cache.NewKeys(redis.Prefix())
		err = redis.Probe(ctx, keys.Notices(), keys.RunNotices()) // every master of a cluster
		if err == nil {
			err = redis.MayUse(ctx, usedKeys(cfg, keys)...)
		}
	}
	findings := []finding{redisFinding(redis, info, err)}
	if strings.HasPrefix(cfg.Redis.URL, "rediss") && strings.HasSuffix(redisdb.SafeText(err), "timeout") {
		findings[0].Msg += "; if it has no TLS, write redis instead of rediss there"
	}
	probed := err
	short, _, _ := strings.Cut(redisdb.SafeText(probed), ": ")
	untested := finding{Subject: "orders", Msg: "not tested: Redis " + short}
	_, isRefused := errors.AsType[*redisdb.RefusedError](probed)
	switch {
	case !cfg.Auth.TakesOrders():
		return findings
	case probed != nil && !isRefused:
		return append(findings, untested)
	}
	rules := cfg.Ordering
	rules.StateDir = "" // otherwise the journal would create it
	orders := journal.New(redis, rules, silentlog.New())
	orders.OnlyRead(upstream.NewSources(cfg.Connections))
	at := map[string]int{} // joins connections with the same message; in a cluster their records may be on different masters
	for _, connection := range cfg.Connections {
		f := newFinding("orders of "+connection.Name, "can be placed", nil)
		if rule, err := checkJournal(ctx, orders, connection.Name); err != nil {
			f = newFinding(f.Subject, "", err)
		} else if probed != nil {
			f.OK, f.Msg = false, untested.Msg
		} else if !redis.Embedded() { // an embedded Redis has no replicas
			f.Msg += "; " + rule
		}
		if i, seen := at[f.Msg]; seen {
			findings[i].Subject += ", " + connection.Name
			continue
		}
		at[f.Msg] = len(findings)
		findings = append(findings, f)
	}
	if len(at) == 1 {
		findings[1].Subject = "orders"
	}
	if probed != nil {
		return findings
	}
	return append(findings, foreignOrders(ctx, cfg, orders)...)
}

// usedKeys returns a key of each kind that larder uses with a configuration, but those of the journal.
func usedKeys(cfg *configs.Config, keys cache.Keys) []string {
	used := []string{keys.OpsAudit()}
	if cfg.Auth.SigningKey == "" {
		used = append(used, keys.Signing()...)
	}
	if cfg.Auth.TakesOrders() {
		used = append(used, keys.Connections())
	}
	switch {
	case len(cfg.Restaurants) > 0:
		used = append(used, keys.Sync(cfg.Restaurants[0].Connection, cfg.Restaurants[0].ID)...)
	case len(cfg.Connections) > 0:
		name := cfg.Connections[0].Name
		used = append(used, keys.Sync(name, cache.DefaultMenu(name))...)
	}
	return used
}

// redisFinding reports whether Redis answers, and accepts the commands of Probe.
func redisFinding(redis *redisdb.DB, info string, err error) finding {
	short, why, _ := strings.Cut(redisdb.SafeText(err), ": ")
	f := newFinding("redis", "answers: "+info, nil)
	f.OK = err == nil
	_, isRefused := errors.AsType[*redisdb.RefusedError](err)
	switch {
	case isRefused:
		f.Msg = fmt.Sprintf("(%s) %s", info, redisdb.SafeText(err))
	case short == "answers with an error" && strings.Contains(why, ": "): // which SafeText explains
		f.Msg = fmt.Sprintf("(%s) %s", redis.Topology(), redisdb.SafeText(err))
	case errors.Is(err, syscall.ECONNREFUSED), err != nil && why == "timeout":
		f.Msg = fmt.Sprintf("no Redis answers at %s (%s): start it, or correct redis.url", redis.Address(), why)
	case err != nil:
		f.Msg = fmt.Sprintf("(%s) %s", redis.Topology(), stripPackage(err.Error()))
		if short == "does not answer" && why != "" {
			f.Msg += "; " + why
		}
	}
	return f
}

// foreignOrders reports the open and unknown orders that cannot be changed with this configuration (policy O16).
func foreignOrders(ctx context.Context, cfg *configs.Config, orders *journal.Journal) []finding {
	found, err := orders.ForeignOrders(ctx, Mapped(cfg.Connections, func(c upstream.Config) string { return c.Name }))
	findings := Mapped(found, func(f journal.ForeignOrders) finding { return newFinding("warning", ForeignText(f), nil) })
	if format, unreadable := errors.AsType[*ordering.FormatError](err); unreadable {
		format.Unreadable = slices.DeleteFunc(format.Unreadable, func(u ordering.Unreadable) bool { // those of checkJournal
			return u.Ref == nil && slices.ContainsFunc(cfg.Connections, func(c upstream.Config) bool { return c.Name == u.Connection })
		})
		if format.ErrorOrNil() != nil {
			findings = append(findings, finding{Subject: "order records", Msg: format.Msg()})
		}
	} else if err != nil {
		findings = append(findings, newFinding("orders of other services", "", err))
	}
	return findings
}

// ForeignText returns which orders cannot be changed any more, and how to change that.
func ForeignText(f journal.ForeignOrders) string {
	address, client := upstream.SourceParts(f.Source)
	text := fmt.Sprintf("connection %s: %d open and %d unknown orders belong to the ordering service at %s (client %s): "+
		"they cannot be paid, completed, rejected or sent again", f.Connection, f.Open, f.Unknown, address, client)
	if f.Current == "" {
		return text + "; the connection is not configured any more"
	}
	var lines []string
	own, ownClient := upstream.SourceParts(f.Current)
	if address != own {
		lines = append(lines, fmt.Sprintf("former_urls: [%q]", "https://"+address)) // the scheme does not matter
	}
	if client != ownClient {
		lines = append(lines, fmt.Sprintf("former_client_ids: [%q]", client))
	}
	return text + "; if it is the same service, add to the connection: " + strings.Join(lines, ", ")
}

// checkJournal returns an error if orders of a connection cannot be recorded,
// otherwise the rule for replicas that applies (policies O14 and O14a).
func checkJournal(ctx context.Context, orders *journal.Journal, connection string) (rule string, err error) {
	err = orders.Ready(ctx, connection)
	if notReady, ok := errors.AsType[*ordering.NotReadyError](err); ok {
		return "", errors.New("cannot be placed: " + notReady.Msg)
	}
	if err != nil {
		return "", err
	}
	health, err := orders.Health(ctx, connection)
	if err == nil && !health.PausedAt.IsZero() {
		err = errors.New("are paused: Redis was restored or has lost orders; look for what is lost " +
			"(docs/runbook/LarderJournalRestored.md), and then accept that with larder order accept-restore")
	}
	return health.Rule(), err
}

func checkConnection(ctx context.Context, cfg *configs.Config, i int) []finding {
	ctx, cancel := context.WithTimeout(ctx, onlineLimit)
	defer cancel()
	connection := cfg.Connections[i]
	what := "connection " + connection.Name
	client, err := upstream.New(connection, upstream.Deps{})
	if err != nil {
		return []finding{newFinding(what, "", err)}
	}
	defer client.Close()
	probes, err := client.ProbeToken(ctx)
	if err != nil {
		return []finding{
			{Subject: what + " token", Msg: probeText(probes, fmt.Sprintf("connections[%d].", i))},
			{Subject: what + " menu", Msg: "not tested: there is no token"},
		}
	}
	token := newFinding(what+" token", "token_request "+connection.TokenRequest.String()+" works", nil)
	return append([]finding{token}, checkConnectionMenus(ctx, cfg, i, client)...)
}

// probeText describes the result of each form of the token request, the first of which failed. section
// precedes the keys of the connection.
func probeText(probes []upstream.Probe, section string) string {
	forms := map[string][]string{} // of each result
	var results []string
	advice := ""
	failed, ok := errors.AsType[*upstream.Error](probes[0].Err)
	switch {
	case !ok || failed.Status >= http.StatusInternalServerError, failed.Status == http.StatusTooManyRequests,
		failed.Status == 0 && strings.Contains(failed.Error(), "certificate"): // of TLS: the error says what to do
	case failed.Status == http.StatusBadRequest, failed.Status == http.StatusUnauthorized, failed.Status == http.StatusForbidden:
		advice = "; check " + section + "client_id and client_secret"
	default: // no response, a page, a redirect, 404, 405
		advice = "; check " + section + "auth_url"
	}
	for _, probe := range probes {
		result := " works: change the configuration"
		if probe.Err == nil {
			advice = ""
		} else {
			result = ": " + stripPackage(probe.Err.Error())
		}
		if forms[result] == nil {
			results = append(results, result)
		}
		forms[result] = append(forms[result], probe.Request.String())
	}
	return strings.Join(Mapped(results, func(result string) string {
		return "token_request " + strings.Join(forms[result], " and ") + result
	}), "; ") + advice
}

// maxCheckedRestaurants limits the menus of a connection that check --online fetches.
const maxCheckedRestaurants = 20

// checkConnectionMenus fetches the default menu of connection i, if it is configured, and the menus of its first
// restaurants.
func checkConnectionMenus(ctx context.Context, cfg *configs.Config, i int, client *upstream.Client) []finding {
	what := "connection " + client.Name() + " menu"
	var findings []finding
	if client.Config().KeepsDefaultMenu() {
		correct := fmt.Sprintf("connections[%d].base_url, or set connections[%[1]d].default_menu: false if the service has none", i)
		findings = append(findings, checkMenu(ctx, client, what, "", correct))
	}
	total := 0
	for at, r := range cfg.Restaurants {
		if r.Connection != client.Name() {
			continue
		}
		if total++; total <= maxCheckedRestaurants {
			key := fmt.Sprintf("restaurants[%d].id, or the base_url of its connection", at)
			findings = append(findings, checkMenu(ctx, client, what+" of restaurant "+string(r.ID), string(r.ID), key))
		}
	}
	if total > maxCheckedRestaurants {
		text := fmt.Sprintf("tested the first %d of %d restaurants", maxCheckedRestaurants, total)
		findings = append(findings, newFinding(what, text, nil))
	}
	return findings
}

// report prints findings, and fails if one is not OK.
func report(cmd *cobra.Command, env *Environment, findings []finding) error {
	err := env.Show(cmd, findings, func() {
		colours := env.colours(cmd)
		for _, f := range findings {
			switch {
			case !f.OK:
				env.Out.Printf("%s  %s: %s\n", colours.bad("FAILED"), f.Subject, f.Msg)
			case f.Subject == "warning":
				env.Out.Printf("%s %s\n", colours.warn("warning"), f.Msg)
			default:
				env.Out.Printf("%s  %s: %s\n", colours.good("ok    "), f.Subject, f.Msg)
			}
		}
	})
	return reported(err, slices.ContainsFunc(findings, func(f finding) bool { return !f.OK }))
}

// checkMenu fetches one menu; an empty restaurant means the default menu. id is what to correct if the
// service has no such restaurant.
func checkMenu(ctx context.Context, client *upstream.Client, what, restaurant, id string) finding {
	view, size, err := fetchMenu(ctx, client, restaurant)
	if failed, ok := errors.AsType[*upstream.Error](err); ok && failed.Status == http.StatusNotFound {
		err = fmt.Errorf("%w; correct %s", err, id)
	}
	return menuFinding(what, view, size, err)
}

// menuFinding is the finding about a menu that was fetched.
func menuFinding(what string, view *menu.View, size int, err error) finding {
	if err != nil {
		return newFinding(what, "", err)
	}
	return newFinding(what, fmt.Sprintf("%s, %d bytes", Plural(len(view.Products), "dish", "dishes"), size), nil)
}

// fetchMenu fetches and decodes a menu view; an empty restaurant means the default menu.
func fetchMenu(ctx context.Context, client *upstream.Client, restaurant string) (view *menu.View, size int, err error) {
	answer, err := client.MenuView(ctx, restaurant, upstream.Validator{}, 0)
	if err != nil {
		return nil, 0, err
	}
	view, err = menu.Decode(answer.Body)
	return view, len(answer.Body), err
}
