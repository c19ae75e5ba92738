package cli

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"larder.local/internal/sandbox"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/tlstest"
)

// checked returns what check prints of a connection over TLS, with the status.
func checked(t *testing.T, address, section string, more ...string) (printed string, status int) {
	t.Helper()
	config := clitest.WriteFile(t, "larder.yaml", fmt.Sprintf("redis: {url: embedded}\nconnections:\n"+
		"  - {name: main, base_url: %q, auth_url: %q, client_id: demo, client_secret: demo-secret, tls: %s}\n", address, address, section))
	got := larder(t, append([]string{"check", "--config", config}, more...)...)
	return strings.ReplaceAll(got.Out+got.Err, config, "larder.yaml"), got.Status
}

// check --online says what is wrong with TLS, and what to do about it (policy H13).
func TestCheckOnlineOfTLS_H13(t *testing.T) {
	t.Parallel()
	kitchen := sandbox.New(sandbox.Config{})
	t.Cleanup(kitchen.Close)
	bistro := sandbox.Bistro(sandbox.BistroID, "")
	kitchen.SetMenu(sandbox.DefaultMenu, bistro)
	serve := func(settings *tls.Config) string {
		return tlstest.Serve(t, settings, http.HandlerFunc(kitchen.Handler().ServeHTTP), nil)
	}
	ca, other := tlstest.Authority(t), tlstest.Authority(t)
	server, client, foreign := ca.Issue(t, nil), ca.Issue(t, nil), other.Issue(t, nil)
	demanding := server.Demanding(t, ca)
	trusted := fmt.Sprintf("ca_file: %q", tlstest.Write(t, ca.PEM))
	with := func(c *tlstest.Certificate) string {
		return fmt.Sprintf("{%s, cert_file: %q, key_file: %q}", trusted, tlstest.Write(t, c.PEM), tlstest.Write(t, c.Key))
	}
	const fix = "FAILED  connection main token: token_request document and oauth: token: "
	for name, tc := range map[string]struct {
		settings *tls.Config
		section  string
		want     string
	}{
		"good":       {server.Server(t), "{" + trusted + "}", "ok      connection main token: token_request document works"},
		"both":       {demanding, with(client), "ok      connection main token: token_request document works"},
		"wrong name": {ca.Issue(t, tlstest.OtherName).Server(t), "{" + trusted + "}", "the service's certificate is for another name: correct base_url or auth_url\n"},
		"expired": {
			ca.Issue(t, tlstest.Expired).Server(t), "{" + trusted + "}",
			"the service's certificate is not valid now: it must be renewed at the service, or the clock here is wrong\n",
		},
		"unknown CA":  {foreign.Server(t), "{" + trusted + "}", "no trusted authority signed the service's certificate: set its authority as tls.ca_file\n"},
		"no CA":       {server.Server(t), "{}", "no trusted authority signed the service's certificate: set its authority as tls.ca_file\n"},
		"no own one":  {demanding, "{" + trusted + "}", "the service requires a certificate: set tls.cert_file and tls.key_file\n"},
		"a wrong one": {demanding, with(foreign), "the service requires a certificate, or does not accept this one: check tls.cert_file and tls.key_file\n"},
		"an expired one": {
			demanding, with(ca.Issue(t, tlstest.Expired)),
			"the service requires a certificate, or does not accept this one: check tls.cert_file and tls.key_file\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			printed, status := checked(t, serve(tc.settings), tc.section, "--online")
			good := strings.HasPrefix(tc.want, "ok")
			if !strings.Contains(printed, tc.want) || (status == StatusDone) != good || !good && !strings.Contains(printed, fix) {
				t.Errorf("status %d\n%s\nwant %q", status, printed, tc.want)
			}
		})
	}
}

// check, without a connection to the service, names the key and the path of a file that cannot be used (policy H13).
func TestCheckOfTLSFiles_H13(t *testing.T) {
	t.Parallel()
	ca := tlstest.Authority(t)
	cert, key, junk := tlstest.Write(t, ca.PEM), tlstest.Write(t, ca.Key), tlstest.Write(t, []byte("junk"))
	encrypted := tlstest.Write(t, []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
	late, early := ca.Issue(t, tlstest.Expired), ca.Issue(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) })
	pair := func(cert, key string) string { return fmt.Sprintf("{cert_file: %q, key_file: %q}", cert, key) }
	written := func(c *tlstest.Certificate) string { return pair(tlstest.Write(t, c.PEM), tlstest.Write(t, c.Key)) }
	const address, place = "https://127.0.0.1:1", "larder.yaml:3:"
	for name, tc := range map[string]struct{ address, section, want string }{
		"good":           {address, pair(cert, key), "ok      configuration: valid"},
		"another key":    {address, pair(cert, tlstest.Write(t, ca.Issue(t, nil).Key)), "connections[0].tls.cert_file: " + cert + " cannot be used with tls.key_file "},
		"no key":         {address, fmt.Sprintf("{cert_file: %q}", cert), "connections[0].tls.key_file: is missing: it is the key of tls.cert_file"},
		"no certificate": {address, fmt.Sprintf("{key_file: %q}", key), "connections[0].tls.cert_file: is missing: it is the certificate of tls.key_file"},
		"no PEM":         {address, fmt.Sprintf("{ca_file: %q}", junk), "connections[0].tls.ca_file: " + junk + " contains no PEM certificate"},
		"encrypted key":  {address, pair(cert, encrypted), "connections[0].tls.key_file: " + encrypted + " is encrypted: write the key without a passphrase (openssl pkey)"},
		"no file":        {address, fmt.Sprintf("{ca_file: %q}", junk+"-missing"), "connections[0].tls.ca_file: cannot be read: open " + junk + "-missing: no such file"},
		"a device":       {address, "{ca_file: /dev/zero}", "connections[0].tls.ca_file: cannot be read: /dev/zero is not a regular file"},
		"no TLS":         {"http://127.0.0.1:1", pair(cert, key), "connections[0].tls: is for TLS: write https:// in base_url"},
		"expired": {
			address, written(late), "warning connections[0].tls.cert_file: the certificate expired at ",
		},
		"not yet valid": {address, written(early), "warning connections[0].tls.cert_file: the certificate is not valid before "},
	} {
		printed, status := checked(t, tc.address, tc.section)
		if fails := strings.HasPrefix(tc.want, "connections"); !strings.Contains(printed, tc.want) || fails != (status == StatusFailed) ||
			fails && !strings.Contains(printed, place) {
			t.Errorf("%s: status %d\n%s\nwant %q", name, status, printed, tc.want)
		}
	}
}
