package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

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

// tryConnection asks for a token, in each known form until one works, and for
// the connection's own menu. False: a person has been told what does not work.
func (s *conversation) tryConnection(ctx context.Context) (works bool, err error) {
	s.tried = nil
	s.connection.TokenRequest = upstream.TokenRequestDocument()
	s.connection.DefaultMenu = nil
	client, err := upstream.New(s.connection)
	if err != nil {
		s.note(finding{What: "connection", Msg: plain(err.Error())})
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
	return plain(err.Error())
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
	lines = append(lines, "nothing was written")
	for i := range lines[1:] {
		lines[1+i] = "  " + lines[1+i]
	}
	return &steppedError{&linesError{lines: lines}, "other values; --offline writes these untried"}
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
		s.note(finding{What: what, Msg: plain(err.Error())})
		return nil, false
	}
	s.note(finding{What: what, OK: true, Msg: fmt.Sprintf("%q, %s", view.Name, plural(len(view.Products), "dish", "dishes"))})
	return view, true
}
