package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"larder/configs"
	"larder/internal/menu"
	"larder/internal/upstream"
)

// askConnection asks for the connection; what was answered before is what Enter
// takes.
func (s *conversation) askConnection(ctx context.Context) (err error) {
	c := &s.connection
	c.Name = "main"
	if c.BaseURL, err = s.address(ctx, "Address of the ordering service", "base-url", c.BaseURL, "/orders/api/v1"); err != nil {
		return err
	}
	before := c.AuthURL
	if before == "" {
		before = c.BaseURL
	}
	if c.AuthURL, err = s.address(ctx, "Address of its token endpoint", "auth-url", before, "/connect/token"); err != nil {
		return err
	}
	if c.ClientID, err = s.given(ctx, "Client id", "client-id", c.ClientID); err != nil {
		return err
	}
	return s.askSecret(ctx)
}

// given is what a flag gives, the first time; else the answer to a question.
func (s *conversation) given(ctx context.Context, question, flag, before string) (string, error) {
	if before == "" && s.text(flag) != "" {
		return s.text(flag), nil
	}
	return s.ask.line(ctx, question, before, "--"+flag)
}

// address is a service's address without the path that larder adds by itself.
func (s *conversation) address(ctx context.Context, question, flag, before, path string) (string, error) {
	if fixed := s.text(flag); fixed != "" && (before == "" || s.ask.mute || flag == "auth-url" && before == s.connection.BaseURL) {
		return addressWithout(fixed, path), nil
	}
	answer, err := s.ask.line(ctx, question, before, "--"+flag)
	return addressWithout(answer, path), err
}

// addressWithout completes an address as people write it.
func addressWithout(address, path string) string {
	if address != "" && !strings.Contains(address, "://") {
		scheme := "https://"
		if u, err := url.Parse("//" + address); err == nil && (u.Hostname() == "localhost" || isLoopback(u.Hostname())) {
			scheme = "http://"
		}
		address = scheme + address
	}
	address = strings.TrimRight(address, "/")
	return strings.TrimRight(strings.TrimSuffix(address, path), "/")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Where a secret can be.
const (
	secretTyped      = "1"
	secretInFile     = "2"
	secretInVariable = "3"
)

// askSecret asks for the client's secret, or for where it is.
func (s *conversation) askSecret(ctx context.Context) (err error) {
	s.secret = secretPlace{file: s.text("client-secret-file"), variable: s.text("client-secret-env")}
	given := s.text("client-secret")
	kind := secretTyped
	switch {
	case s.connection.ClientSecret != "": // it did not work
		s.secret, given = secretPlace{}, ""
		fallthrough
	case given == "" && s.secret == secretPlace{}:
		if s.ask.mute {
			return &usageError{"the client's secret is missing: LARDER_INIT_CLIENT_SECRET, --client-secret-file or --client-secret-env"}
		}
		kind, err = s.ask.choice(ctx, "The client's secret: 1 is typed here (not shown), 2 is in a file, 3 is in a variable", []string{secretTyped, secretInFile, secretInVariable}, "--client-secret-file")
		if err != nil {
			return err
		}
	case s.secret.file != "":
		kind = secretInFile
	case s.secret.variable != "":
		kind = secretInVariable
	}
	switch kind {
	case secretInFile:
		return s.secretOfFile(ctx)
	case secretInVariable:
		return s.secretOfVariable(ctx)
	}
	if s.connection.ClientSecret = given; given == "" {
		s.connection.ClientSecret, err = s.ask.hidden(ctx, "Client secret", "--client-secret-file")
	}
	return err
}

func (s *conversation) secretOfFile(ctx context.Context) (err error) {
	for range triesOfPeople {
		if s.secret.file == "" {
			if s.secret.file, err = s.ask.line(ctx, "The file that holds the secret", "", "--client-secret-file"); err != nil {
				return err
			}
		}
		content, err := os.ReadFile(s.secret.file)
		if err == nil && strings.TrimSpace(string(content)) == "" {
			err = errors.New("the file is empty")
		}
		if err == nil {
			s.connection.ClientSecret = strings.TrimRight(string(content), "\r\n")
			s.secret.file, err = filepath.Abs(s.secret.file)
			return err
		}
		err = fmt.Errorf("the secret of %s: %w", s.secret.file, innermost(err))
		if s.ask.mute {
			return err
		}
		s.ask.say("%v", err)
		s.secret.file = ""
	}
	return &usageError{"no file with a secret: give --client-secret-file"}
}

func (s *conversation) secretOfVariable(ctx context.Context) (err error) {
	for range triesOfPeople {
		if s.secret.variable == "" {
			if s.secret.variable, err = s.ask.line(ctx, "The variable that holds the secret", "", "--client-secret-env"); err != nil {
				return err
			}
		}
		if value, _ := variable(s.w.env, s.secret.variable); value != "" {
			s.connection.ClientSecret = value
			return nil
		}
		err = &steppedError{fmt.Errorf("the variable %s is not set here", s.secret.variable), "export it first, or another --client-secret-env"}
		if s.ask.mute {
			return err
		}
		s.ask.say("%v", err)
		s.secret.variable = ""
	}
	return &usageError{"no variable with a secret: give --client-secret-env"}
}

// tryConnection asks for a token, in each known form until one works, and for
// the connection's own menu. False: a person has been told what does not work.
func (s *conversation) tryConnection(ctx context.Context) (works bool, err error) {
	s.tried = nil
	s.connection.TokenRequest = upstream.TokenRequestDocument()
	s.connection.DefaultMenu = nil
	client, err := upstream.New(s.connection)
	if err != nil {
		s.note(finding{What: "connection", Msg: plain(err)})
		return false, s.unattended()
	}
	limited, cancel := context.WithTimeout(ctx, onlineLimit)
	defer cancel()
	probes, err := client.ProbeToken(limited)
	client.Close()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	at := slices.IndexFunc(probes, upstream.Probe.Works)
	if at < 0 {
		s.note(finding{What: "token", Msg: said(err)})
		for _, probe := range probes[1:] {
			s.note(finding{What: "token", Msg: fmt.Sprintf("token_request %s does not work either: %s", probe.Request, said(probe.Err))})
		}
		return false, s.unattended()
	}
	s.connection.TokenRequest = probes[at].Request
	if s.client, err = upstream.New(s.connection); err != nil {
		return false, err
	}
	s.note(finding{What: "token", OK: true, Msg: fmt.Sprintf("comes with token_request %s", probes[at].Request)})
	return true, nil
}

// note keeps a finding and shows it.
func (s *conversation) note(f finding) {
	s.tried = append(s.tried, f)
	mark := s.w.errorColours().good("ok")
	if !f.OK {
		mark = s.w.errorColours().bad("FAILED")
	}
	s.ask.say("  %s  %s: %s", mark, f.What, f.Msg)
}

// said is an error for a person: without the room it comes from.
func said(err error) string {
	if err == nil {
		return "does not work"
	}
	return plain(err)
}

// unattended is the last finding as an error, where nobody can be asked.
func (s *conversation) unattended() error {
	if !s.ask.mute {
		return nil
	}
	var lines []string
	for _, f := range s.tried {
		if !f.OK {
			lines = append(lines, f.What+": "+f.Msg)
		}
	}
	return &steppedError{errors.New(strings.Join(lines, "\n  ") + "\n  nothing was written"), "other values; --offline writes these untried"}
}

// menuOf pulls a menu and keeps what came of it; restaurant "" is the
// connection's own.
func (s *conversation) menuOf(ctx context.Context, restaurant string) (*menu.View, bool) {
	what := "the connection's own menu"
	if restaurant != "" {
		what = "menu of " + restaurant
	}
	ctx, cancel := context.WithTimeout(ctx, onlineLimit)
	defer cancel()
	answer, err := s.client.MenuView(ctx, restaurant, upstream.Validator{}, 0)
	var view *menu.View
	if err == nil {
		view, err = menu.Decode(answer.Body)
	}
	if err != nil {
		s.note(finding{What: what, Msg: plain(err)})
		return nil, false
	}
	s.note(finding{What: what, OK: true, Msg: fmt.Sprintf("%q, %s", view.Name, plural(len(view.Products), "dish", "dishes"))})
	return view, true
}

// mostOffered is how many restaurants are offered to pick from.
const mostOffered = 20

// pick asks whose menus are kept, and tries each.
func (s *conversation) pick(ctx context.Context) error {
	var offered []string
	own := true
	if !s.flag("offline") {
		var view *menu.View
		if view, own = s.menuOf(ctx, ""); own {
			offered = stopsOf(view)
		} else {
			s.connection.DefaultMenu = new(false) // it may be that each restaurant has one
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	ids, _ := s.flags.GetStringArray("restaurant")
	ask := len(ids) == 0
	for range triesOfPeople {
		if ask {
			typed, err := s.askIDs(ctx, offered)
			if err != nil {
				return err
			}
			ids = typed
		}
		again, err := s.tryRestaurants(ctx, ids)
		if err != nil {
			return err
		}
		if !again && !own && len(s.picked) == 0 { // there would be nothing to serve
			if err := s.unattended(); err != nil {
				return err
			}
			s.ask.say("There is no menu without a restaurant: name one.")
			again = true
		}
		if !again {
			return nil
		}
		ask = true
	}
	return &steppedError{errors.New("no restaurants to keep: nothing was written"), "larder init with the ids of your restaurants"}
}

// stopsOf are the restaurants that the menu's stop lists name: the service has
// no list of them, so they are what can be offered.
func stopsOf(view *menu.View) []string {
	known := map[string]bool{}
	for i := range view.Products {
		for _, id := range view.Products[i].Stop.IDs {
			known[id] = true
		}
	}
	ids := make([]string, 0, len(known))
	for id := range known {
		if configs.IsRestaurantID(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// askIDs asks for ids, or for numbers of those that are offered.
func (s *conversation) askIDs(ctx context.Context, offered []string) ([]string, error) {
	question := "Restaurants whose menus are kept (ids, with spaces between)"
	if len(offered) > 0 {
		s.ask.say("The menu's stop lists name these restaurants:")
		for i, id := range offered[:min(len(offered), mostOffered)] {
			s.ask.say("  %2d  %s", i+1, id)
		}
		question = "Restaurants whose menus are kept (ids or these numbers, with spaces between)"
	}
	answer, err := s.ask.optional(ctx, question+"; Enter for none now", "", "--restaurant")
	if err != nil {
		return nil, err
	}
	ids := strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' || r == ';' || r == '\t' })
	for i, id := range ids {
		if n, err := strconv.Atoi(id); err == nil && n >= 1 && n <= min(len(offered), mostOffered) && !slices.Contains(offered, id) {
			ids[i] = offered[n-1]
		}
	}
	return ids, nil
}

// tryRestaurants pulls the menu of each and asks for its name. It tells whether
// the ids are to be asked for again.
func (s *conversation) tryRestaurants(ctx context.Context, ids []string) (again bool, err error) {
	s.picked = nil
	failed := 0
	for _, id := range ids {
		switch {
		case slices.ContainsFunc(s.picked, func(p pick) bool { return p.id == id }):
			continue
		case !configs.IsRestaurantID(id):
			s.note(finding{What: "restaurant", Msg: fmt.Sprintf("%q is no restaurant id: 1 to 64 of A-Z a-z 0-9 . _ : -", id)})
			failed++
			continue
		}
		if !s.flag("offline") {
			if _, good := s.menuOf(ctx, id); !good {
				failed++
			}
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		s.picked = append(s.picked, pick{id: id, name: id})
	}
	if failed > 0 {
		if err := s.unattended(); err != nil {
			return false, err
		}
		keep, err := s.ask.sure(ctx, "Not every restaurant has a menu. Keep them all the same? (No asks again)")
		if err != nil || !keep {
			return true, err
		}
		s.picked = slices.DeleteFunc(s.picked, func(p pick) bool { return !configs.IsRestaurantID(p.id) })
	}
	for i := range s.picked {
		p := &s.picked[i]
		if p.name, err = s.ask.optional(ctx, "Name of "+p.id+", as people read it", p.id, "--yes"); err != nil {
			return false, err
		}
	}
	return false, nil
}
