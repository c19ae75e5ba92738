package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"larder/configs"
	"larder/internal/upstream"
)

//go:embed init.yaml.tmpl
var initText string

//nolint:gochecknoglobals // constant
var initTemplate = template.Must(template.New("larder.yaml").Funcs(template.FuncMap{
	"quote":  strconv.Quote,                                                             // as YAML
	"escape": func(text string) string { return strings.ReplaceAll(text, "${", "$${") }, // it is no variable
}).Parse(initText))

func initCommand(env *Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Create a configuration interactively and test it",
		Long: `Ask for the connection to an ordering service, for the restaurants and for Redis,
try each answer at once, and write a commented configuration, larder.yaml if no
FILE is named. Only its owner can read it: it holds secrets. What a flag gives is
not asked for. With --yes nothing is asked, and what does not work is an error.`,
		Example: `  larder init
  LARDER_INIT_CLIENT_SECRET=… larder init --yes --base-url https://orders.example \
    --client-id my-client --restaurant north --restaurant south larder.yaml`,
		Args: argRange(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s := &initSession{env: env, in: bufio.NewReader(env.In), flags: cmd.Flags(), file: append(args, "larder.yaml")[0]}
			s.unattended, _ = cmd.Flags().GetBool("yes")
			s.offline, _ = cmd.Flags().GetBool("offline")
			s.json = AsJSON(cmd)
			err := s.run(cmd.Context())
			if err != nil && cmd.Context().Err() != nil {
				return &hintError{interrupted("interrupted: nothing was written"), "Run larder init again."}
			}
			return err
		},
	}
	flags := cmd.Flags()
	for _, f := range [][3]string{
		{"base-url", "", "address of the ordering service, without /orders/api/v1"},
		{"auth-url", "", "address of its token endpoint, without /connect/token; default: that of the service"},
		{"client-id", "", "the client that the ordering service knows"},
		{"client-secret", "", "its secret; better by the variable, or one of the next two"},
		{"client-secret-file", "", "a file that holds the secret, relative to the folder of FILE; the configuration then names it"},
		{"client-secret-env", "", "a variable that holds the secret; the configuration then names it"},
		{"redis", "", "the address of a Redis, or embedded (in memory only)"},
		{"listen", "127.0.0.1:8080", "where larder will listen"},
	} {
		flags.String(f[0], f[1], f[2])
		SetEnv(flags, f[0], "LARDER_INIT_"+strings.ToUpper(strings.ReplaceAll(f[0], "-", "_")))
	}
	flags.StringArray("restaurant", nil, "a restaurant's id; may be given several times")
	flags.Bool("offline", false, "try nothing: neither the ordering service nor Redis is asked")
	flags.Bool("overwrite", false, "replace the file if it exists")
	flags.BoolP("yes", "y", false, "ask nothing")
	AddJSON(cmd)
	return cmd
}

// initSession is one run of init. Its exported fields are the answers.
type initSession struct {
	env                 *Environment
	in                  *bufio.Reader
	flags               *pflag.FlagSet
	file                string
	unattended, offline bool
	json                bool
	tried               []finding

	Listen, Redis, BaseURL, AuthURL, ClientID, TokenRequest string
	ClientSecret, SecretFile, SecretVariable                string // the first, unless another names where it is
	Tried, DefaultMenu                                      bool   // a token was obtained; there is a menu without a restaurant
	Restaurants                                             []initRestaurant
	StorefrontSecret, OpsSecret                             string
}

type initRestaurant struct{ ID, Name string }

func (s *initSession) text(name string) string {
	text, _ := s.flags.GetString(name)
	return strings.TrimSpace(text)
}

// run asks, tries and writes, in this order.
func (s *initSession) run(ctx context.Context) error {
	replace, _ := s.flags.GetBool("overwrite")
	if _, err := os.Stat(s.file); err == nil && !replace {
		return &hintError{fmt.Errorf("%s already exists and was not changed", s.file), "Name another FILE, or use --overwrite."}
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

// printFinding shows a finding, keeps it for --json, and reports whether it is
// good.
func (s *initSession) printFinding(f finding) bool {
	s.tried = append(s.tried, f)
	mark := s.env.errorColours().good("ok")
	if !f.OK {
		mark = s.env.errorColours().bad("FAILED")
	}
	s.env.Err.Printf("  %s  %s: %s\n", mark, f.Subject, f.Msg)
	return f.OK
}

// untilAccepted repeats an attempt until it works or the person keeps the answers
// anyway, at most five times. Unattended the first failure ends the command.
func (s *initSession) untilAccepted(ctx context.Context, attempt func(ctx context.Context, again bool) (works bool, err error)) error {
	for i := range 5 {
		works, err := attempt(ctx, i > 0)
		if works || err != nil || ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		if s.unattended {
			break
		}
		kept, err := s.ask(ctx, "Not everything works. Keep it anyway? No asks again [y/N]", "", "", false)
		if err != nil || strings.EqualFold(kept, "y") {
			return err
		}
	}
	err := errors.New("not everything works: nothing was written")
	return &hintError{err, "Run larder init with other values; --offline writes them untried."}
}

// askConnection asks for the connection and tries to get a token, in each known form of
// the request until one works.
func (s *initSession) askConnection(ctx context.Context, again bool) (works bool, err error) {
	for _, f := range []struct {
		value            *string
		text, flag, path string
	}{
		{&s.BaseURL, "Address of the ordering service", "base-url", "/orders/api/v1"},
		{&s.AuthURL, "Address of its token endpoint", "auth-url", "/connect/token"},
		{&s.ClientID, "Client id", "client-id", ""},
	} {
		if *f.value == "" || again {
			preset := *f.value
			if f.flag == "auth-url" {
				preset = cmp.Or(preset, s.BaseURL)
			}
			if *f.value, err = s.ask(ctx, f.text, preset, "--"+f.flag, false); err != nil {
				return false, err
			}
		}
		*f.value = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(*f.value, "/"), f.path), "/")
	}
	if s.SecretFile == "" && s.SecretVariable == "" && (s.ClientSecret == "" || again) {
		flags := "LARDER_INIT_CLIENT_SECRET, --client-secret-file or --client-secret-env"
		if s.ClientSecret, err = s.ask(ctx, "Client secret (not shown)", "", flags, true); err != nil {
			return false, err
		}
	}
	_, cfg := s.load()
	if cfg == nil || s.offline {
		return cfg != nil, nil
	}
	client, err := upstream.New(cfg.Connections[0], upstream.Deps{})
	if err != nil {
		return false, err
	}
	defer client.Close()
	limited, cancel := context.WithTimeout(ctx, onlineLimit)
	defer cancel()
	probes, _ := client.ProbeToken(limited)
	at := slices.IndexFunc(probes, func(p upstream.Probe) bool { return p.Err == nil })
	if at < 0 {
		return s.printFinding(finding{Subject: "token", Msg: probeText(probes)}), nil
	}
	s.Tried, s.TokenRequest = true, probes[at].Request.String()
	return s.printFinding(finding{Subject: "token", OK: true, Msg: "works with token_request " + s.TokenRequest}), nil
}

// askRestaurants asks for the restaurants whose menus are kept, and fetches each menu.
func (s *initSession) askRestaurants(ctx context.Context, again bool) (works bool, err error) {
	ids, _ := s.flags.GetStringArray("restaurant")
	if len(ids) == 0 || again {
		answer, err := s.ask(ctx, "Restaurant ids, separated by spaces; Enter for none now", "", "", false)
		if err != nil {
			return false, err
		}
		ids = strings.Fields(strings.ReplaceAll(answer, ",", " "))
	}
	s.Restaurants = mapped(ids, func(id string) initRestaurant { return initRestaurant{id, id} })
	_, cfg := s.load()
	if works = cfg != nil; works && s.Tried {
		client, err := upstream.New(cfg.Connections[0], upstream.Deps{})
		if err != nil {
			return false, err
		}
		defer client.Close()
		s.DefaultMenu = s.printFinding(checkMenu(ctx, client, "menu without a restaurant", "")) // each restaurant may still have one
		for _, id := range ids {
			works = s.printFinding(checkMenu(ctx, client, "menu of "+id, id)) && works
		}
	}
	for i := 0; i < len(ids) && works && err == nil; i++ {
		s.Restaurants[i].Name, err = s.ask(ctx, "Name of "+ids[i]+", as people read it", ids[i], "", false)
	}
	return works, err
}

// askRedis asks where menus and orders are kept, and tries it.
func (s *initSession) askRedis(ctx context.Context, again bool) (works bool, err error) {
	if s.Redis = s.text("redis"); s.Redis == "" || again {
		s.Redis, err = s.ask(ctx, "Redis: embedded (in memory, gone when larder stops) or redis://host:6379", "embedded", "", false)
		if err != nil {
			return false, err
		}
	}
	_, cfg := s.load()
	if cfg == nil || s.offline || s.Redis == "embedded" {
		return cfg != nil, nil
	}
	works, cfg.Auth.Clients = true, nil // without clients that place orders, durability is not checked: report says how to get it
	for _, f := range checkRedis(ctx, cfg) {
		works = s.printFinding(f) && works
	}
	return works, nil
}

// load returns the configuration as it would be written. If larder does not
// accept it, load says why, and cfg is nil.
func (s *initSession) load() (text []byte, cfg *configs.Config) {
	var b bytes.Buffer
	_ = initTemplate.Execute(&b, s) // it fails only by a mistake in the template
	others := func(entry string) bool { return !strings.HasPrefix(entry, s.SecretVariable+"=") }
	cfg, err := configs.Parse(s.file, b.Bytes(), slices.DeleteFunc(slices.Clone(s.env.Environ), others))
	faults, _ := errors.AsType[configs.Errors](err)
	for _, f := range faults {
		s.printFinding(finding{Subject: f.Key, Msg: f.Msg})
	}
	return b.Bytes(), cfg
}

// write writes the file, which only its owner can read, and says what to run
// next. It never replaces a file that was created meanwhile.
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
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // G304: the user names the file
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
	TokenRequest string    `json:"tokenRequest,omitempty"` // the form that works; none was tried with --offline
	Restaurants  []string  `json:"restaurants"`
	Redis        string    `json:"redis"` // its kind; an address may hold a password
	Tried        []finding `json:"tried"`
	Next         []string  `json:"next"`
}

// report says what was written and what to run next.
func (s *initSession) report() error {
	config := " --config " + quoted(s.file)
	next := []string{"larder serve" + config, "larder status --watch" + config, "larder check --online" + config}
	if s.json {
		result := initResult{File: s.file, Restaurants: []string{}, Tried: append([]finding{}, s.tried...), Next: next}
		result.Redis, _, _ = strings.Cut(s.Redis, "://")
		if s.Tried {
			result.TokenRequest = s.TokenRequest
		}
		for _, r := range s.Restaurants {
			result.Restaurants = append(result.Restaurants, r.ID)
		}
		return PrintJSON(s.env.Out, result)
	}
	s.env.Out.Printf("%s is written; only you can read it: it holds secrets.\n", s.file)
	if s.Redis == "embedded" {
		s.env.Out.Println("Redis is embedded: menus and orders are gone when larder stops. To keep them, name a Redis in redis.url.")
	}
	s.env.Out.Printf("Orders need these settings in redis.conf:\n  appendonly yes\n  maxmemory-policy noeviction\n")
	s.env.Out.Printf("Next:\n  %s\n  %s   # in another terminal\n  %s   # at any time\n", next[0], next[1], next[2])
	return nil
}

// ask asks a person on standard error and returns the answer, the preset if that
// is empty. Unattended it returns the preset; flag names where else the answer comes from
// if one is needed. A terminal does not show a secret while it is typed.
func (s *initSession) ask(ctx context.Context, text, preset, flag string, secret bool) (string, error) {
	if s.unattended {
		if preset == "" && flag != "" {
			return "", &usageError{flag + " is missing, and with --yes it is not asked for"}
		}
		return preset, nil
	}
	if preset != "" {
		text += " [" + preset + "]"
	}
	answer, err := s.read(ctx, text+": ", secret)
	switch {
	case answer != "":
		return answer, nil
	case errors.Is(err, io.EOF):
		return "", &usageError{fmt.Sprintf("the input ended before an answer to %q: use --yes and flags", text)}
	default:
		return preset, err
	}
}

// read prints the prompt and reads one line, until ctx ends. Nothing can interrupt
// the read itself, which is left to the end of the program. The echo of a secret is
// off before its prompt is printed, so that an answer pasted at once is not shown;
// it is on again when read returns.
func (s *initSession) read(ctx context.Context, prompt string, secret bool) (string, error) {
	line := func() (string, error) {
		text, err := s.in.ReadString('\n')
		return strings.TrimSpace(text), err
	}
	if file, ok := s.env.In.(*os.File); secret && ok && term.IsTerminal(int(file.Fd())) {
		fd := int(file.Fd())
		state, err := term.GetState(fd)
		if err != nil {
			return "", err
		}
		if err := echoOff(fd); err != nil {
			return "", err
		}
		defer func() {
			_ = term.Restore(fd, state)
			s.env.Err.Println()
		}()
		line = func() (string, error) {
			text, err := term.ReadPassword(fd)
			return string(text), err
		}
	}
	s.env.Err.Printf("%s", prompt)
	var answer string
	var failed error
	done := make(chan struct{})
	go func() { answer, failed = line(); close(done) }()
	select {
	case <-done:
		return answer, failed
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// echoOff makes the terminal not show what is typed.
func echoOff(fd int) error {
	settings, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	settings.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, setTermios, settings)
}
