package upstream_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"larder.local/internal/testkit/tlstest"
	"larder.local/internal/upstream"
)

// tlsService is an ordering service over TLS that notes with which certificate each request came.
type tlsService struct {
	url string

	mu       sync.Mutex
	requests []string // the serial numbers of the clients' certificates
	during   func()   // called before the response to an order; may be nil
}

func startTLS(t *testing.T, settings *tls.Config, wrap func(net.Listener) net.Listener) *tlsService {
	t.Helper()
	s := &tlsService{}
	s.url = tlstest.Serve(t, settings, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, tlstest.SerialOf(r))
		if strings.HasSuffix(r.URL.Path, "/token") {
			_, _ = io.WriteString(w, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`)
			return
		}
		if s.during != nil {
			s.during()
		}
		_, _ = io.WriteString(w, `{"result":{"orderID":"o-`+time.Now().String()+`"}}`)
	}), wrap)
	return s
}

func (s *tlsService) received() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.requests...)
}

func tlsConfig(url string, files upstream.TLS) upstream.Config {
	return upstream.Config{Name: "main", BaseURL: url, AuthURL: url, ClientID: "a", ClientSecret: "b", TLS: files}
}

func placeOverTLS(t *testing.T, cfg upstream.Config) error {
	t.Helper()
	client, err := upstream.New(cfg, upstream.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = client.CreateOrder(ctx, []byte(`{"comment":"`+strings.Repeat("a", 8<<10)+`"}`))
	return err
}

// Each fault of TLS has an error that says what to do. An order whose handshake fails is certainly not sent, also with a
// token (policy H13).
func TestTLSOfTheService_H13(t *testing.T) {
	t.Parallel()
	ca, other := tlstest.Authority(t), tlstest.Authority(t)
	server, client, stranger := ca.Issue(t, nil), ca.Issue(t, nil), other.Issue(t, nil)
	demands := func(version uint16) *tls.Config {
		settings := server.Demanding(t, ca)
		settings.MaxVersion = version
		return settings
	}
	old := server.Server(t)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	files := func(c *tlstest.Certificate) upstream.TLS {
		return upstream.TLS{CAFile: tlstest.Write(t, ca.PEM), CertFile: tlstest.Write(t, c.PEM), KeyFile: tlstest.Write(t, c.Key)}
	}
	own, wrong, none := files(client), files(stranger), upstream.TLS{CAFile: tlstest.Write(t, ca.PEM)}
	for name, tc := range map[string]struct {
		server *tls.Config
		files  upstream.TLS
		want   string // part of the error; empty: the order is placed
		late   bool   // the service refuses only after the handshake
	}{
		"only ca_file":           {server.Server(t), none, "", false},
		"both, TLS 1.3":          {demands(tls.VersionTLS13), own, "", false},
		"both, TLS 1.2":          {demands(tls.VersionTLS12), own, "", false},
		"TLS 1.1":                {old, none, "protocol version not supported", false},
		"unknown CA":             {stranger.Server(t), none, "set its authority as tls.ca_file", false},
		"expired":                {ca.Issue(t, tlstest.Expired).Server(t), none, "the service's certificate is not valid now", false},
		"wrong name":             {ca.Issue(t, tlstest.OtherName).Server(t), none, "correct base_url or auth_url", false},
		"no certificate, 1.2":    {demands(tls.VersionTLS12), none, "check tls.cert_file and tls.key_file", false},
		"wrong certificate, 1.2": {demands(tls.VersionTLS12), wrong, "check tls.cert_file and tls.key_file", false},
		"no certificate, 1.3":    {demands(tls.VersionTLS13), none, "set tls.cert_file and tls.key_file", true},
		"wrong certificate, 1.3": {demands(tls.VersionTLS13), wrong, "check tls.cert_file and tls.key_file", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, tokens := startTLS(t, tc.server, nil), startTLS(t, server.Server(t), nil)
			bad := func(err error) bool {
				failed, ok := errors.AsType[*upstream.Error](err)
				return !ok || !strings.Contains(err.Error(), tc.want) || failed.Effect != upstream.EffectNone
			}
			cfg := tlsConfig(service.url, tc.files)
			err := placeOverTLS(t, cfg)
			if tc.want == "" {
				if got := service.received(); err != nil || len(got) != 2 || (got[0] == "none") != (tc.files == none) || got[0] != got[1] {
					t.Errorf("%v; a token and an order came with the certificates %v", err, got)
				}
				return
			}
			if bad(err) {
				t.Errorf("without a token: %v; want %q, certainly not sent", err, tc.want)
			}
			if cfg.AuthURL = tokens.url; !tc.late {
				if err := placeOverTLS(t, cfg); bad(err) {
					t.Errorf("with a token: %v; want %q, certainly not sent", err, tc.want)
				}
			}
			if got := service.received(); len(got) != 0 {
				t.Errorf("the service received %v", got)
			}
		})
	}
	if err := placeOverTLS(t, tlsConfig(startTLS(t, server.Server(t), nil).url, upstream.TLS{})); err == nil ||
		!strings.Contains(err.Error(), "set its authority as tls.ca_file") {
		t.Errorf("without ca_file: %v", err)
	}
}

// lateListener is a listener of a slow service: what a client sends after the first response arrives together with 4 KiB of
// an order.
type lateListener struct{ net.Listener }

// Accept implements net.Listener.
func (l lateListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lateConn{Conn: conn, reader: bufio.NewReaderSize(conn, 32<<10)}, nil
}

type lateConn struct {
	net.Conn
	reader   *bufio.Reader
	answered bool
}

// Write implements net.Conn.
func (c *lateConn) Write(p []byte) (int, error) {
	c.answered = true
	return c.Conn.Write(p)
}

// Read implements net.Conn.
func (c *lateConn) Read(p []byte) (int, error) {
	if c.answered {
		_, _ = c.reader.Peek(4 << 10)
	}
	return c.reader.Read(p)
}

// With TLS 1.3 a client may write an order before the service refuses its certificate. Such an order is unknown
// (policy H13).
func TestACertificateRefusedAfterTheOrder_H13(t *testing.T) {
	t.Parallel()
	ca := tlstest.Authority(t)
	server, stranger := ca.Issue(t, nil), tlstest.Authority(t).Issue(t, nil)
	tokens := startTLS(t, server.Server(t), nil)
	late := func(l net.Listener) net.Listener { return lateListener{l} }
	service := startTLS(t, server.Demanding(t, ca), late)
	none := upstream.TLS{CAFile: tlstest.Write(t, ca.PEM)}
	wrong := upstream.TLS{CAFile: none.CAFile, CertFile: tlstest.Write(t, stranger.PEM), KeyFile: tlstest.Write(t, stranger.Key)}
	for want, files := range map[string]upstream.TLS{
		"set tls.cert_file and tls.key_file": none, "check tls.cert_file and tls.key_file": wrong,
	} {
		cfg := tlsConfig(service.url, files)
		cfg.AuthURL = tokens.url
		err := placeOverTLS(t, cfg)
		failed, ok := errors.AsType[*upstream.Error](err)
		if !ok || failed.Effect != upstream.EffectUnknown || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q, and an unknown outcome", err, want)
		}
	}
	if got := service.received(); len(got) != 0 {
		t.Errorf("the service accepted %v", got)
	}
}

// After a reload with a renewed certificate or authority, all requests use it, and no connection of the old one (policy H13).
func TestARenewedCertificate_H13(t *testing.T) {
	t.Parallel()
	ca := tlstest.Authority(t)
	first, second := ca.Issue(t, nil), ca.Issue(t, nil)
	service := startTLS(t, ca.Issue(t, nil).Demanding(t, ca), nil)
	files := upstream.TLS{CAFile: tlstest.Write(t, ca.PEM), CertFile: tlstest.Write(t, first.PEM), KeyFile: tlstest.Write(t, first.Key)}
	client, err := upstream.Make(tlsConfig(service.url, files), upstream.WithReuse(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	order := func() {
		if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
			t.Error(err)
		}
	}
	reload := func() {
		read, err := files.Load()
		if err != nil {
			t.Fatal(err)
		}
		client.Reload("b", read)
	}
	order()
	reload() // the same content
	order()
	for name, content := range map[string][]byte{files.CertFile: second.PEM, files.KeyFile: second.Key} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reload()
	order()
	if _, err := client.MenuView(t.Context(), "", upstream.Validator{}, 0); err != nil {
		t.Error(err)
	}
	want := []string{first.Serial(), first.Serial(), first.Serial(), second.Serial(), second.Serial()}
	if got := service.received(); !slices.Equal(got, want) {
		t.Errorf("a token, orders and a menu came with %v, want %v", got, want)
	}
	if err := os.WriteFile(files.CAFile, tlstest.Authority(t).PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	reload()
	if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err == nil || !strings.Contains(err.Error(), "tls.ca_file") {
		t.Errorf("with another authority: %v", err)
	}
}

// A connection that an order uses during a reload carries no further order (policy H13).
func TestAReloadDuringAnOrder_H13(t *testing.T) {
	t.Parallel()
	ca := tlstest.Authority(t)
	first, second := ca.Issue(t, nil), ca.Issue(t, nil)
	service := startTLS(t, ca.Issue(t, nil).Demanding(t, ca), nil)
	files := upstream.TLS{CAFile: tlstest.Write(t, ca.PEM), CertFile: tlstest.Write(t, first.PEM), KeyFile: tlstest.Write(t, first.Key)}
	renewed, err := upstream.TLS{CAFile: files.CAFile, CertFile: tlstest.Write(t, second.PEM), KeyFile: tlstest.Write(t, second.Key)}.Load()
	client, makeErr := upstream.Make(tlsConfig(service.url, files), upstream.WithReuse(time.Minute))
	if err := errors.Join(err, makeErr); err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	service.during = sync.OnceFunc(func() { client.Reload("b", renewed) }) // while the first order waits for its response
	for i := range 20 {
		if _, err := client.CreateOrder(t.Context(), []byte(`{}`)); err != nil {
			t.Error(err)
		}
		if got := service.received(); i > 0 && got[len(got)-1] != second.Serial() {
			t.Fatalf("order %d came with the certificate from before the reload", i)
		}
	}
}

// Files that cannot be used are errors of the configuration (policy H13).
func TestTLSFiles_H13(t *testing.T) {
	t.Parallel()
	ca := tlstest.Authority(t)
	expired, otherKey := ca.Issue(t, tlstest.Expired), tlstest.Write(t, ca.Issue(t, nil).Key)
	c, k := tlstest.Write(t, ca.PEM), tlstest.Write(t, ca.Key)
	junk := tlstest.Write(t, []byte("\x00junk\t\n"))
	broken := tlstest.Write(t, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	for name, tc := range map[string]struct {
		url, want string
		files     upstream.TLS
	}{
		"all":                    {"https://a.example", "", upstream.TLS{CAFile: c, CertFile: c, KeyFile: k}},
		"text before the PEM":    {"https://a.example", "", upstream.TLS{CAFile: tlstest.Write(t, append([]byte("Subject:\ta\r\n"), ca.PEM...))}},
		"no key":                 {"https://a.example", "tls.key_file: is missing", upstream.TLS{CertFile: c}},
		"no certificate":         {"https://a.example", "tls.cert_file: is missing", upstream.TLS{KeyFile: k}},
		"key of another":         {"https://a.example", "tls.cert_file: " + c + " cannot be used with tls.key_file " + otherKey, upstream.TLS{CertFile: c, KeyFile: otherKey}},
		"junk":                   {"https://a.example", "tls.cert_file: " + junk + " cannot be used with tls.key_file", upstream.TLS{CertFile: junk, KeyFile: k}},
		"broken":                 {"https://a.example", "tls.cert_file: " + broken + " cannot be used with tls.key_file", upstream.TLS{CertFile: broken, KeyFile: k}},
		"a CA without any":       {"https://a.example", "tls.ca_file: " + k + " contains no PEM certificate", upstream.TLS{CAFile: k}},
		"a junk CA":              {"https://a.example", "tls.ca_file: " + junk + " contains no PEM certificate", upstream.TLS{CAFile: junk}},
		"a broken CA":            {"https://a.example", "tls.ca_file: " + broken + " contains no PEM certificate", upstream.TLS{CAFile: broken}},
		"a folder":               {"https://a.example", "tls.ca_file: cannot be read", upstream.TLS{CAFile: filepath.Dir(c)}},
		"a device":               {"https://a.example", "tls.key_file: cannot be read", upstream.TLS{CertFile: c, KeyFile: "/dev/zero"}},
		"a missing file":         {"https://a.example", "tls.cert_file: cannot be read", upstream.TLS{CertFile: c + "x", KeyFile: k}},
		"without TLS":            {"http://a.example", "tls: is for TLS: write https:// in base_url", upstream.TLS{CAFile: c}},
		"without TLS, uppercase": {"HTTP://a.example", "tls: is for TLS: write https:// in base_url", upstream.TLS{CAFile: c}},
	} {
		cfg := tlsConfig(tc.url, tc.files)
		cfg.SetDefaults()
		err := cfg.Validate()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v; want %q", name, err, tc.want)
		}
	}
	mixed := tlsConfig("https://a.example", upstream.TLS{CAFile: c})
	mixed.AuthURL = "http://a.example"
	if err := mixed.Validate(); err == nil || !strings.Contains(err.Error(), "tls: is for TLS: write https:// in auth_url") {
		t.Errorf("a token endpoint without TLS: %v", err)
	}
	late := upstream.TLS{CertFile: tlstest.Write(t, expired.PEM), KeyFile: tlstest.Write(t, expired.Key)}
	if got := late.Warning(time.Now()); !strings.Contains(got, "expired at") {
		t.Errorf("an expired certificate: %q", got)
	}
	if got := (upstream.TLS{CertFile: c, KeyFile: k}).Warning(time.Now().Add(-2 * time.Hour)); !strings.Contains(got, "not valid before") {
		t.Errorf("a certificate of the future: %q", got)
	}
}
