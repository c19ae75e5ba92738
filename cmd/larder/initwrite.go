package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"larder/configs"
)

// redisEmbedded is the redis.url that is no address.
const redisEmbedded = "embedded"

// store asks where menus and orders are kept, and tries a Redis that is there.
func (s *conversation) store(ctx context.Context) error {
	given := s.text("redis")
	for range triesOfPeople {
		if s.redis = given; given == "" {
			var err error
			s.ask.say("Where menus and orders are kept: the address of a Redis, such as redis://127.0.0.1:6379, or %s (in memory, gone when larder stops).", redisEmbedded)
			if s.redis, err = s.ask.optional(ctx, "Redis", redisEmbedded, "--redis"); err != nil {
				return err
			}
		}
		works, err := s.tryRedis(ctx)
		if works || err != nil {
			return err
		}
		keep, err := s.ask.sure(ctx, "Keep it all the same? (No asks again)")
		if keep || err != nil {
			return err
		}
		given = ""
	}
	return &steppedError{errors.New("no Redis to keep menus in: nothing was written"), "larder init --redis embedded to begin with"}
}

// tryRedis judges the answer, and asks a Redis that is somewhere.
func (s *conversation) tryRedis(ctx context.Context) (works bool, err error) {
	cfg, err := configs.Parse("", []byte("redis: {url: "+quote(escaped(s.redis))+"}\n"), nil)
	if err != nil {
		msg := said(err)
		if faults, ok := errors.AsType[configs.Errors](err); ok {
			msg = faults[0].Msg
		}
		s.note(finding{What: "redis", Msg: msg})
		return false, s.unattended()
	}
	if s.redis == redisEmbedded || s.flag("offline") {
		return true, nil
	}
	works = true
	for _, f := range checkRedis(ctx, cfg) {
		s.note(f)
		works = works && f.OK
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if !works {
		return false, s.unattended()
	}
	return true, nil
}

// write puts the configuration into the file, once it is certain that larder
// takes it.
func (s *conversation) write(replaces bool) error {
	s.made = [2]string{rand.Text(), rand.Text()}
	text := s.config()
	var env []string
	if name := s.secret.variable; name != "" {
		env = []string{name + "=" + s.connection.ClientSecret}
	}
	if _, err := configs.Parse(s.file, text, env); err != nil {
		return &linesError{append([]string{"what was answered makes no configuration, and nothing was written:"}, errorLines(err)...), err}
	}
	if err := writePrivate(s.file, text, replaces); err != nil {
		return &steppedError{fmt.Errorf("write %s: %w", s.file, innermost(err)), "another FILE, in a folder that you may write to"}
	}
	return nil
}

// writePrivate writes a file that its owner alone can read: at once, and never
// over one that came meanwhile.
func writePrivate(name string, content []byte, replaces bool) (err error) {
	var file *os.File
	if replaces {
		file, err = os.CreateTemp(filepath.Dir(name), ".larder-init-*") // mode 0600
	} else {
		file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // G304: the person at the command line names the file
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil && replaces {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// config is the configuration as it is written.
func (s *conversation) config() []byte {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	add("# Larder's configuration, as `larder init` wrote it. Every other key has its")
	add("# default: `larder config sample` prints them all with their meaning.")
	add("# There are secrets in it: keep it readable by the user alone who runs larder.")
	add("")
	add("http:")
	add("  # Where larder listens. 0.0.0.0:8080 lets other machines reach it.")
	add("  listen: %s", quote(s.text("listen")))
	add("")
	add("redis:")
	add("  # embedded: in memory, gone when larder stops; or redis://host:6379, which")
	add("  # needs `appendonly yes` and `maxmemory-policy noeviction` for orders.")
	add("  url: %s", quote(escaped(s.redis)))
	add("")
	if s.redis == redisEmbedded {
		add("ordering:")
		add("  # Embedded keeps orders in memory only: larder places them all the same.")
		add("  # Take this line away as soon as redis.url names a Redis that keeps them.")
		add("  allow_volatile: true")
		add("")
	}
	s.configConnection(add)
	s.configRestaurants(add)
	add("auth:")
	add("  clients:")
	add("    # For the backend of a shop or a site: it reads menus and places orders.")
	add("    - id: storefront")
	add("      secret: %s", quote(s.made[0]))
	add("      scopes: [menu, orders]")
	add("    # For operators: larder sync, order list and resolve, menu rollback.")
	add("    - id: ops")
	add("      secret: %s", quote(s.made[1]))
	add("      scopes: [menu, orders, ops]")
	return []byte(b.String())
}

func (s *conversation) configConnection(add func(format string, args ...any)) {
	c := s.connection
	add("connections:")
	add("  - name: main")
	add("    base_url: %s   # without /orders/api/v1", quote(c.BaseURL))
	add("    auth_url: %s   # without /connect/token", quote(c.AuthURL))
	add("    client_id: %s", quote(c.ClientID))
	switch {
	case s.secret.file != "":
		add("    client_secret_file: %s", quote(s.secret.file))
	case s.secret.variable != "":
		add("    client_secret: ${%s}", s.secret.variable)
	default:
		add("    client_secret: %s", quote(escaped(c.ClientSecret)))
	}
	if s.flag("offline") {
		add("    # Not tried yet: `larder check --online` tells which form works.")
	} else {
		add("    # How the token is asked for: the service answered this form.")
	}
	if form := c.TokenRequest.String(); form != "" && c.TokenRequest.Encoding != "" {
		add("    token_request: %s", form)
	} else {
		add("    token_request: document")
	}
	if c.KeepsDefaultMenu() {
		add("    # Also keep the connection's own menu, of no restaurant in particular.")
	} else {
		add("    # The service gave no menu without a restaurant.")
	}
	add("    default_menu: %t", c.KeepsDefaultMenu())
	add("")
}

func (s *conversation) configRestaurants(add func(format string, args ...any)) {
	if len(s.picked) == 0 {
		add("# The restaurants whose menus are kept, by the ids of the ordering service.")
		add("restaurants: []")
		add("#  - id: my-restaurant")
		add("#    name: My Restaurant")
		add("")
		return
	}
	add("# The restaurants whose menus are kept; sync.schedule says when (every 2 minutes).")
	add("restaurants:")
	for _, p := range s.picked {
		add("  - id: %s", quote(p.id))
		add("    name: %s", quote(p.name))
		add("    # time_zone: Europe/Lisbon   # of `soonest` orders; default: UTC")
	}
	add("")
}

// quote is a text as YAML takes it in quotes.
func quote(text string) string { return strconv.Quote(text) }

// escaped keeps ${ in a secret from being taken for a variable's beginning.
func escaped(secret string) string { return strings.ReplaceAll(secret, "${", "$${") }

// initialised is what --json tells of a configuration that was written.
type initialised struct {
	File         string    `json:"file"`
	TokenRequest string    `json:"tokenRequest,omitempty"`
	Restaurants  []string  `json:"restaurants"`
	Redis        string    `json:"redis"`
	Tried        []finding `json:"tried"`
	Next         []string  `json:"next"`
}

// report ends with what to run next.
func (s *conversation) report() error {
	file := quoted(s.file)
	next := []string{
		"larder serve --config " + file,
		"larder status --watch --config " + file,
		"larder check --online --config " + file,
	}
	if s.json {
		made := initialised{File: s.file, TokenRequest: s.connection.TokenRequest.String(), Restaurants: []string{}, Redis: s.kindOfRedis(), Tried: s.tried, Next: next}
		if s.flag("offline") {
			made.TokenRequest, made.Tried = "", []finding{}
		}
		for _, p := range s.picked {
			made.Restaurants = append(made.Restaurants, p.id)
		}
		return printJSON(s.w.out, made)
	}
	s.w.out.printf("%s is written; you alone can read it, for it holds secrets.\n", s.file)
	if s.redis == redisEmbedded {
		s.w.out.println("Redis is embedded: menus and orders are gone when larder stops. To keep them, name a Redis in redis.url.")
	}
	s.w.out.printf("Orders need these settings in redis.conf:\n  appendonly yes\n  maxmemory-policy noeviction\n")
	if len(s.picked) == 0 {
		s.w.out.println("It names no restaurant yet: add some under restaurants.")
	}
	s.w.out.printf("Next:\n  %s\n  %s   # in another terminal\n  %s   # at any time\n", next[0], next[1], next[2])
	return nil
}

// kindOfRedis names the form without an address, which may hold a password.
func (s *conversation) kindOfRedis() string {
	scheme, _, found := strings.Cut(s.redis, "://")
	if !found {
		return s.redis
	}
	return scheme
}
