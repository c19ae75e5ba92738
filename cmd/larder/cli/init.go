package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	_ "embed" // init.yaml.tmpl
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"larder.local/configs"
	"larder.local/internal/upstream"
)

func initCommand(env *Environment) *cobra.Command {
	cmd := NewCommand("larder", "init [FILE]", func(cmd *cobra.Command, args []string) error {
		line, restore, err := newLineReader(env)
		if err != nil {
			return err
		}
		defer restore()
		s := &initSession{env: env, line: line, cmd: cmd, file: append(args, "larder.yaml")[0]}
		s.unattended, s.offline = BoolFlag(cmd, "yes"), BoolFlag(cmd, "offline")
		err = s.run(cmd.Context())
		if err != nil && cmd.Context().Err() != nil {
			return &hintError{interrupted("interrupted: nothing was written"), "Run larder init again."}
		}
		return err
	})
	flags := cmd.Flags()
	for _, f := range [][3]string{
		{"base-url", "", "address of the ordering service, without /orders/api/v1"},
		{"auth-url", "", "address of its token endpoint, without /connect/token; default: the address of the service"},
		{"client-id", "", "client id at the ordering service"},
		{"client-secret", "", "client secret; prefer the variable or one of the next two flags"},
		{"client-secret-file", "", "file that holds the secret, relative to the folder of FILE; the configuration refers to it"},
		{"client-secret-env", "", "variable that holds the secret; the configuration refers to it"},
		{"redis", "", "address of a Redis, or embedded (in memory only)"},
		{"listen", "127.0.0.1:8080", "listen address of larder"},
	} {
		flags.String(f[0], f[1], f[2])
		SetEnv(flags, f[0], "LARDER_INIT_"+strings.ToUpper(strings.ReplaceAll(f[0], "-", "_")))
	}
	flags.StringArray("restaurant", nil, "id of a restaurant; repeat the flag for several")
	flags.Bool("offline", false, "do not test the ordering service and Redis")
	flags.Bool("overwrite", false, "replace the file if it exists")
	flags.BoolP("yes", "y", false, "ask nothing")
	AddJSON(cmd)
	return cmd
}

// initSession is one run of init. The exported fields are the answers.
type initSession struct {
	env                 *Environment
	line                lineReader
	cmd                 *cobra.Command
	file                string
	unattended, offline bool
	tried               []finding

	Listen, Redis, BaseURL, AuthURL, ClientID, TokenRequest string
	ClientSecret, SecretFile, SecretVariable                string // one of the three is set
	Tried, DefaultMenu                                      bool   // a token was obtained; the connection has a menu of its own
	Restaurants                                             []initRestaurant
	StorefrontSecret, OpsSecret                             string
}

type initRestaurant struct{ ID, Name string }

func (s *initSession) text(flag string) string { return strings.TrimSpace(StringFlag(s.cmd, flag)) }

// run asks, tests the answers, and writes the file.
func (s *initSession) run(ctx context.Context) error {
	replace := BoolFlag(s.cmd, "overwrite")
	if _, err := os.Stat(s.file); err == nil && !replace {
		return &hintError{fmt.Errorf("%s already exists and was not changed", s.file), "Use another FILE, or --overwrite."}
	}
	s.Listen, s.Redis, s.TokenRequest, s.DefaultMenu = s.text("listen"), "embedded", "document", true
	s.BaseURL, s.AuthURL, s.ClientID = s.text("base-url"), s.text("auth-url"), s.text("client-id")
	s.ClientSecret, s.SecretFile, s.SecretVariable = s.text("client-secret"), s.text("client-secret-file"), s.text("client-secret-env")
	s.StorefrontSecret, s.OpsSecret = rand.Text(), rand.Text()
	for _, attempt := range []func(ctx context.Context, again bool) (works bool, err error){s.askConnection, s.askRestaurants, s.askRedis} {
		if err := s.untilAccepted(ctx, attempt); err != nil {
			return err
		}
	}
	return s.write(replace)
}

// printFinding prints a finding, stores it for --json, and reports whether it is OK.
func (s *initSession) printFinding(f finding) bool {
	s.tried = append(s.tried, f)
	mark := s.env.errorColours().good("ok")
	if !f.OK {
		mark = s.env.errorColours().bad("FAILED")
	}
	s.env.Err.Printf("  %s  %s: %s\n", mark, f.Subject, f.Msg)
	return f.OK
}

// untilAccepted repeats an attempt, at most five times, until it works or the user
// keeps the answers anyway. Unattended, the first failure ends the command.
func (s *initSession) untilAccepted(ctx context.Context, attempt func(ctx context.Context, again bool) (works bool, err error)) error {
	for i := range 5 {
		works, err := attempt(ctx, i > 0)
		if works || err != nil || ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		if s.unattended {
			break
		}
		kept, err := s.ask(ctx, "Some tests failed. Keep these values? n: enter them again [y/N]", "", "", anyText)
		if err != nil || strings.EqualFold(kept, "y") {
			return err
		}
	}
	err := errors.New("some tests failed: nothing was written")
	return &hintError{err, "Use other values, or --offline to write them without tests."}
}

// askConnection asks for the connection and requests a token. It tries each form of the token request until one works.
func (s *initSession) askConnection(ctx context.Context, again bool) (works bool, err error) {
	base, auth, id := &s.BaseURL, &s.AuthURL, &s.ClientID
	for _, f := range []struct {
		value, other     *string // other: the preset if there is no value
		text, flag, path string
		shown            func(string) bool
	}{
		{base, base, "Address of the ordering service (http:// or https://)", "--base-url", "/orders/api/v1", httpURL},
		{auth, base, "Address of its token endpoint", "--auth-url", "/connect/token", httpURL},
		{id, id, "Client id", "--client-id", "", anyText},
	} {
		if !f.shown(*f.value) {
			return false, &usageError{f.flag + ": " + notAddress(f.flag)}
		}
		if *f.value == "" || again {
			if *f.value, err = s.ask(ctx, f.text, cmp.Or(*f.value, *f.other), f.flag, f.shown); err != nil {
				return false, err
			}
		}
		*f.value = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(*f.value, "/"), f.path), "/")
	}
	if s.SecretFile == "" && s.SecretVariable == "" && (s.ClientSecret == "" || again) {
		flags := "LARDER_INIT_CLIENT_SECRET, --client-secret-file or --client-secret-env"
		if s.ClientSecret, err = s.ask(ctx, "Client secret (not shown)", "", flags, nil); err != nil {
			return false, err
		}
	}
	client, works, err := s.service()
	if client == nil {
		return works, err
	}
	defer client.Close()
	limited, cancel := context.WithTimeout(ctx, onlineLimit)
	defer cancel()
	probes, _ := client.ProbeToken(limited)
	at := slices.IndexFunc(probes, func(p upstream.Probe) bool { return p.Err == nil })
	if at < 0 {
		return s.printFinding(finding{Subject: "token", Msg: probeText(probes, "")}), nil
	}
	s.Tried, s.TokenRequest = true, probes[at].Request.String()
	return s.printFinding(finding{Subject: "token", OK: true, Msg: "works with token_request " + s.TokenRequest}), nil
}

// askRestaurants asks for the restaurants, and fetches each menu.
func (s *initSession) askRestaurants(ctx context.Context, again bool) (works bool, err error) {
	ids, _ := s.cmd.Flags().GetStringArray("restaurant")
	if len(ids) == 0 || again {
		answer, err := s.ask(ctx, "Restaurant ids, separated by spaces; Enter for none now", "", "", anyText)
		if err != nil {
			return false, err
		}
		ids = strings.Fields(strings.ReplaceAll(answer, ",", " "))
	}
	s.Restaurants = Mapped(ids, func(id string) initRestaurant { return initRestaurant{id, id} })
	client, works, err := s.service()
	if client != nil {
		defer client.Close()
	}
	if works && s.Tried {
		works = s.checkDefaultMenu(ctx, client)
		for _, id := range ids {
			works = s.printFinding(checkMenu(ctx, client, "menu of "+id, id, "the id")) && works
		}
	}
	for i := 0; i < len(ids) && works && err == nil; i++ {
		s.Restaurants[i].Name, err = s.ask(ctx, "Display name", ids[i], "", anyText)
	}
	return works, err
}

// checkDefaultMenu finds out whether the connection has a menu of its own. The restaurants may have menus without it.
func (s *initSession) checkDefaultMenu(ctx context.Context, client *upstream.Client) bool {
	const what = "menu without a restaurant"
	view, size, err := fetchMenu(ctx, client, "")
	s.DefaultMenu = err == nil
	failed, ok := errors.AsType[*upstream.Error](err)
	if ok && (failed.Status == http.StatusNotFound || failed.Status == http.StatusBadRequest) {
		return s.printFinding(newFinding(what, fmt.Sprintf("none (%d), so default_menu is false", failed.Status), nil))
	}
	return s.printFinding(menuFinding(what, view, size, err))
}

// service returns a client of the ordering service, or nil if the answers are not valid, or with --offline.
func (s *initSession) service() (client *upstream.Client, valid bool, err error) {
	_, cfg := s.load()
	if cfg == nil || s.offline {
		return nil, cfg != nil, nil
	}
	client, err = upstream.New(cfg.Connections[0], upstream.Deps{})
	return client, err == nil, err
}

// askRedis asks where to store menus and orders, and connects to it.
func (s *initSession) askRedis(ctx context.Context, again bool) (works bool, err error) {
	if s.Redis = s.text("redis"); s.Redis == "" || again {
		s.Redis, err = s.ask(ctx, "Redis: embedded (in memory, lost when larder stops) or redis://host:6379", "embedded", "--redis", redisURL)
		if err != nil {
			return false, err
		}
	}
	if !redisURL(s.Redis) {
		return false, &usageError{"--redis: " + notAddress("--redis")}
	}
	_, cfg := s.load()
	if cfg == nil || s.offline || s.Redis == "embedded" {
		return cfg != nil, nil
	}
	works, cfg.Auth.Clients = true, nil // without clients, durability is not checked; report prints what it needs
	for _, f := range checkRedis(ctx, cfg) {
		works = s.printFinding(f) && works
	}
	return works, nil
}

// notAddress returns the error of a value of flag that is not an address.
func notAddress(flag string) string {
	forms := "start it with http:// or https://"
	if flag == "--redis" {
		forms = "write embedded or redis://host:6379"
	}
	return "not a valid URL: " + forms + " (the input is not shown, because it may be a secret)"
}

func anyText(string) bool { return true }

// httpURL reports whether text is a URL of HTTP or the beginning of one.
func httpURL(text string) bool { return startsLike(text, "http://", "https://") }

// redisURL reports whether text is a value of redis.url or the beginning of one.
func redisURL(text string) bool {
	return startsLike(text, "embedded", "redis:", "rediss:", "redis+", "rediss+")
}

func startsLike(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		return strings.HasPrefix(text, prefix) || strings.HasPrefix(prefix, text)
	})
}

// ask prints a question on standard error and returns the answer, or the preset if the answer is
// empty. Unattended, it returns the preset; without one, the error names flag. It never prints an
// answer that shown rejects, and asks again. If shown is nil, the answer is a secret.
func (s *initSession) ask(ctx context.Context, text, preset, flag string, shown func(string) bool) (string, error) {
	if s.unattended {
		if preset == "" && flag != "" {
			return "", &usageError{flag + " is missing; it is required with --yes"}
		}
		return preset, nil
	}
	if preset != "" {
		text += " [" + preset + "]"
	}
	for {
		answer, err := s.read(ctx, text+": ", shown)
		switch {
		case answer != "" && shown != nil && !shown(answer):
			s.printFinding(finding{Subject: "answer", Msg: notAddress(flag)})
		case answer != "":
			return answer, nil
		case errors.Is(err, io.EOF):
			return "", &usageError{fmt.Sprintf("the input ended before an answer to %q: use --yes and flags", text)}
		default:
			return preset, err
		}
	}
}

// read prints the prompt and reads one line, until ctx ends. The read itself cannot
// be interrupted, so its goroutine remains until the program ends.
func (s *initSession) read(ctx context.Context, prompt string, shown func(string) bool) (answer string, err error) {
	done := make(chan struct{})
	var text string
	var failed error
	go func() { text, failed = s.line(prompt, shown); close(done) }()
	select {
	case <-done:
		return text, failed
	case <-ctx.Done():
		s.env.Err.Println()
		return "", context.Cause(ctx)
	}
}

//go:embed init.yaml.tmpl
var initText string

//nolint:gochecknoglobals // constant
var initTemplate = template.Must(template.New("larder.yaml").Funcs(template.FuncMap{
	"quote":  strconv.Quote,                                                             // YAML
	"escape": func(text string) string { return strings.ReplaceAll(text, "${", "$${") }, // not a variable
}).Parse(initText))

// load returns the configuration with the answers. If it is not valid, load prints the errors, and cfg is nil.
func (s *initSession) load() (text []byte, cfg *configs.Config) {
	var b bytes.Buffer
	_ = initTemplate.Execute(&b, s) // fails only if the template is wrong
	others := func(entry string) bool { return !strings.HasPrefix(entry, s.SecretVariable+"=") }
	cfg, err := configs.Parse(s.file, b.Bytes(), slices.DeleteFunc(slices.Clone(s.env.Environ), others))
	faults, _ := errors.AsType[configs.Errors](err)
	for _, f := range faults {
		s.printFinding(finding{Subject: f.Key, Msg: f.Msg})
	}
	return b.Bytes(), cfg
}

// write writes the file, which only its owner can read, and prints the next
// commands. It does not replace a file that another program has just created.
func (s *initSession) write(replace bool) error {
	text, cfg := s.load()
	if cfg == nil {
		return errors.New("the answers are not a valid configuration: nothing was written")
	}
	name := s.file
	if replace {
		name += ".new" // renamed when it is complete
		_ = os.Remove(name)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil && replace {
		err = os.Rename(name, s.file)
	}
	if err != nil {
		return fmt.Errorf("write the configuration: %w", errors.Join(err, os.Remove(name)))
	}
	return s.report()
}

// initResult is what init --json prints.
type initResult struct {
	File         string    `json:"file"`
	TokenRequest string    `json:"tokenRequest,omitempty"` // the form that works; empty with --offline
	Restaurants  []string  `json:"restaurants"`
	Redis        string    `json:"redis"` // only the scheme, because a URL may contain a password
	Tried        []finding `json:"tried"`
	Next         []string  `json:"next"`
}

// report prints the result and the next commands.
func (s *initSession) report() error {
	config := " --config " + quoted(s.file)
	next := []string{"larder serve" + config, "larder status --watch" + config, "larder check --online" + config}
	if AsJSON(s.cmd) {
		result := initResult{File: s.file, Tried: append([]finding{}, s.tried...), Next: next}
		result.Restaurants = Mapped(s.Restaurants, func(r initRestaurant) string { return r.ID })
		result.Redis, _, _ = strings.Cut(s.Redis, "://")
		if s.Tried {
			result.TokenRequest = s.TokenRequest
		}
		return PrintJSON(s.env.Out, result)
	}
	s.env.Out.Printf("Created %s. Only you can read it, because it contains secrets.\n", s.file)
	if s.Redis == "embedded" {
		s.env.Out.Println("Redis is embedded: menus and orders are lost when larder stops. To keep them, set redis.url to a Redis server.")
	}
	s.env.Out.Printf("Orders need these settings in redis.conf:\n  appendonly yes\n  maxmemory-policy noeviction\n")
	s.env.Out.Printf("Next:\n  %s\n  %s   # in another terminal\n  %s   # at any time\n", next[0], next[1], next[2])
	return nil
}
