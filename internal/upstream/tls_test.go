package upstream_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"larder/internal/upstream"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue returns a certificate and its key in PEM. A nil authority signs itself.
func (a *authority) issue(t *testing.T, change func(*x509.Certificate)) (cert, key []byte, own *authority) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	parent := &authority{template, private}
	if a != nil {
		parent = a
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent.cert, &private.PublicKey, parent.key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), &authority{parsed, private}
}

func isCA(c *x509.Certificate) { c.IsCA = true }

// tlsFile writes a file and returns its path.
func tlsFile(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// tlsService is an ordering service over TLS that notes with which certificate each order came.
type tlsService struct {
	url string

	mu     sync.Mutex
	orders []string // the serial numbers of the clients' certificates
}

func startTLS(t *testing.T, cert, key []byte, settings *tls.Config) *tlsService {
	t.Helper()
	s := &tlsService{}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	settings.Certificates = []tls.Certificate{pair}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/token") {
			_, _ = io.WriteString(w, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		from := "none"
		if len(r.TLS.PeerCertificates) > 0 {
			from = r.TLS.PeerCertificates[0].SerialNumber.String()
		}
		s.orders = append(s.orders, from)
		_, _ = io.WriteString(w, `{"result":{"orderID":"o-`+time.Now().String()+`"}}`)
	}))
	server.TLS = settings
	server.StartTLS()
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *tlsService) received() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.orders...)
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
	_, err = client.CreateOrder(ctx, []byte(`{}`))
	return err
}

// Each fault of TLS has an error that says what to do, and an order that was not sent is certainly not sent (policy H13).
func TestTLSOfTheService_H13(t *testing.T) {
	t.Parallel()
	caPEM, _, ca := (*authority)(nil).issue(t, isCA)
	otherPEM, _, other := (*authority)(nil).issue(t, isCA)
	cert, key, _ := ca.issue(t, nil)
	expired, expiredKey, _ := ca.issue(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	named, namedKey, _ := ca.issue(t, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"orders.example"} })
	foreign, foreignKey, _ := other.issue(t, nil)
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	demands := func(version uint16) *tls.Config {
		return &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MaxVersion: version}
	}
	good := tlsFile(t, caPEM)
	own := upstream.TLS{CAFile: good, CertFile: tlsFile(t, cert), KeyFile: tlsFile(t, key)}
	stranger := upstream.TLS{CAFile: good, CertFile: tlsFile(t, foreign), KeyFile: tlsFile(t, foreignKey)}
	none := upstream.TLS{CAFile: good}
	for name, tc := range map[string]struct {
		cert, key []byte
		server    *tls.Config
		files     upstream.TLS
		want      string // part of the error; empty: the order is placed
	}{
		"only ca_file":           {cert, key, &tls.Config{}, none, ""},
		"both, TLS 1.3":          {cert, key, demands(tls.VersionTLS13), own, ""},
		"both, TLS 1.2":          {cert, key, demands(tls.VersionTLS12), own, ""},
		"TLS 1.1":                {cert, key, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, none, "protocol version not supported"},
		"unknown CA":             {cert, key, &tls.Config{}, upstream.TLS{CAFile: tlsFile(t, otherPEM)}, "set its authority as tls.ca_file"},
		"no ca_file":             {cert, key, &tls.Config{}, upstream.TLS{}, "set its authority as tls.ca_file"},
		"expired":                {expired, expiredKey, &tls.Config{}, none, "the service's certificate is not valid now"},
		"wrong name":             {named, namedKey, &tls.Config{}, none, "correct base_url or auth_url"},
		"no certificate, 1.3":    {cert, key, demands(tls.VersionTLS13), none, "set tls.cert_file and tls.key_file"},
		"no certificate, 1.2":    {cert, key, demands(tls.VersionTLS12), none, "check tls.cert_file and tls.key_file"},
		"wrong certificate, 1.3": {cert, key, demands(tls.VersionTLS13), stranger, "check tls.cert_file and tls.key_file"},
		"wrong certificate, 1.2": {cert, key, demands(tls.VersionTLS12), stranger, "check tls.cert_file and tls.key_file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := startTLS(t, tc.cert, tc.key, tc.server.Clone())
			err := placeOverTLS(t, tlsConfig(service.url, tc.files))
			if tc.want == "" {
				if err != nil || len(service.received()) != 1 {
					t.Errorf("%v, %d orders", err, len(service.received()))
				}
				return
			}
			failed, ok := errors.AsType[*upstream.Error](err)
			if !ok || !strings.Contains(err.Error(), tc.want) || failed.Effect != upstream.EffectNone || len(service.received()) != 0 {
				t.Errorf("%v; want %q, certainly not sent", err, tc.want)
			}
		})
	}
}

// With TLS 1.3 the service may refuse the certificate after the order was written: this order is uncertain (policy H13).
func TestACertificateRefusedAfterTheOrder_H13(t *testing.T) {
	t.Parallel()
	caPEM, _, ca := (*authority)(nil).issue(t, isCA)
	cert, key, _ := ca.issue(t, nil)
	open := startTLS(t, cert, key, &tls.Config{}) // the token endpoint
	service := startTLS(t, cert, key, &tls.Config{ClientAuth: tls.RequireAnyClientCert})
	cfg := tlsConfig(service.url, upstream.TLS{CAFile: tlsFile(t, caPEM)})
	cfg.AuthURL = open.url
	err := placeOverTLS(t, cfg)
	failed, ok := errors.AsType[*upstream.Error](err)
	if !ok || failed.Effect == upstream.EffectNone && !strings.Contains(err.Error(), "tls.cert_file") || failed.Effect == upstream.EffectDone {
		t.Errorf("%v, want an uncertain result, or an error of the certificate", err)
	}
	if ok && failed.Effect != upstream.EffectUnknown {
		t.Errorf("effect %v, want unknown: bytes of the order were written", failed.Effect)
	}
}

// After a reload with a renewed certificate, orders use it, not a kept connection of the old one (policy H13).
func TestARenewedCertificate_H13(t *testing.T) {
	t.Parallel()
	caPEM, _, ca := (*authority)(nil).issue(t, isCA)
	cert, key, _ := ca.issue(t, nil)
	old, oldKey, first := ca.issue(t, nil)
	renewed, renewedKey, second := ca.issue(t, nil)
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	service := startTLS(t, cert, key, &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	files := upstream.TLS{CAFile: tlsFile(t, caPEM), CertFile: tlsFile(t, old), KeyFile: tlsFile(t, oldKey)}
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
	for name, content := range map[string][]byte{files.CertFile: renewed, files.KeyFile: renewedKey} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reload()
	order()
	want := []string{first.cert.SerialNumber.String(), first.cert.SerialNumber.String(), second.cert.SerialNumber.String()}
	if got := service.received(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("orders came with %v, want %v", got, want)
	}
}

// Files that cannot be used are errors of the configuration (policy H13).
func TestTLSFiles_H13(t *testing.T) {
	t.Parallel()
	cert, key, _ := (*authority)(nil).issue(t, isCA)
	_, otherKey, _ := (*authority)(nil).issue(t, isCA)
	expired, expiredKey, _ := (*authority)(nil).issue(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	c, k := tlsFile(t, cert), tlsFile(t, key)
	junk := tlsFile(t, []byte("\x00junk\t\n"))
	broken := tlsFile(t, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	for name, tc := range map[string]struct {
		url, want string
		files     upstream.TLS
	}{
		"all":                    {"https://a.example", "", upstream.TLS{CAFile: c, CertFile: c, KeyFile: k}},
		"text before the PEM":    {"https://a.example", "", upstream.TLS{CAFile: tlsFile(t, append([]byte("Subject:\ta\r\n"), cert...))}},
		"no key":                 {"https://a.example", "tls.key_file: is missing", upstream.TLS{CertFile: c}},
		"no certificate":         {"https://a.example", "tls.cert_file: is missing", upstream.TLS{KeyFile: k}},
		"key of another":         {"https://a.example", "tls.cert_file: cannot be used with tls.key_file", upstream.TLS{CertFile: c, KeyFile: tlsFile(t, otherKey)}},
		"junk":                   {"https://a.example", "tls.cert_file: cannot be used with tls.key_file", upstream.TLS{CertFile: junk, KeyFile: k}},
		"broken":                 {"https://a.example", "tls.cert_file: cannot be used with tls.key_file", upstream.TLS{CertFile: broken, KeyFile: k}},
		"a CA without any":       {"https://a.example", "tls.ca_file: contains no PEM certificate", upstream.TLS{CAFile: k}},
		"a junk CA":              {"https://a.example", "tls.ca_file: contains no PEM certificate", upstream.TLS{CAFile: junk}},
		"a broken CA":            {"https://a.example", "tls.ca_file: contains no PEM certificate", upstream.TLS{CAFile: broken}},
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
	late := upstream.TLS{CertFile: tlsFile(t, expired), KeyFile: tlsFile(t, expiredKey)}
	if got := late.Warning(time.Now()); !strings.Contains(got, "expired at") {
		t.Errorf("an expired certificate: %q", got)
	}
	if got := (upstream.TLS{CertFile: c, KeyFile: k}).Warning(time.Now().Add(-2 * time.Hour)); !strings.Contains(got, "not valid before") {
		t.Errorf("a certificate of the future: %q", got)
	}
}
