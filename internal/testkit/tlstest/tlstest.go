// Package tlstest has certificates and servers for tests of TLS. Only tests import it.
package tlstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificate is a certificate and its key.
type Certificate struct {
	PEM, Key []byte // in PEM
	leaf     *x509.Certificate
	private  *ecdsa.PrivateKey
}

// Authority returns a certificate that can sign others.
func Authority(t *testing.T) *Certificate {
	t.Helper()
	return sign(t, nil, func(c *x509.Certificate) { c.IsCA = true })
}

// Issue signs a certificate for servers at 127.0.0.1 and for clients. change may be nil; it changes the certificate before.
func (c *Certificate) Issue(t *testing.T, change func(*x509.Certificate)) *Certificate {
	t.Helper()
	return sign(t, c, change)
}

// Expired makes a certificate expire a minute ago.
func Expired(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }

// OtherName makes a certificate that is not for 127.0.0.1.
func OtherName(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"orders.example"} }

// sign returns a certificate of an authority. Without one, it signs itself.
func sign(t *testing.T, by *Certificate, change func(*x509.Certificate)) *Certificate {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
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
	if by == nil {
		by = &Certificate{leaf: template, private: private}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.leaf, &private.PublicKey, by.private)
	must(t, err)
	leaf, err := x509.ParseCertificate(der)
	must(t, err)
	key, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	return &Certificate{
		PEM:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		leaf: leaf, private: private,
	}
}

// Serial returns the serial number.
func (c *Certificate) Serial() string { return c.leaf.SerialNumber.String() }

// Pool returns a pool with this authority.
func (c *Certificate) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(c.leaf)
	return pool
}

// Server returns the settings of a server with this certificate.
func (c *Certificate) Server(t *testing.T) *tls.Config {
	t.Helper()
	pair, err := tls.X509KeyPair(c.PEM, c.Key)
	must(t, err)
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

// Demanding returns the settings of a server that accepts only clients with a certificate of the authority.
func (c *Certificate) Demanding(t *testing.T, authority *Certificate) *tls.Config {
	t.Helper()
	settings := c.Server(t)
	settings.ClientAuth, settings.ClientCAs = tls.RequireAndVerifyClientCert, authority.Pool()
	return settings
}

// SerialOf returns the serial number of the certificate with which a request came, or "none".
func SerialOf(r *http.Request) string {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return "none"
	}
	return r.TLS.PeerCertificates[0].SerialNumber.String()
}

// Serve starts a server and returns its address. wrap may be nil; it changes the connections below TLS.
func Serve(t *testing.T, settings *tls.Config, handler http.Handler, wrap func(net.Listener) net.Listener) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	if wrap != nil {
		server.Listener = wrap(server.Listener)
	}
	server.TLS, server.Config.ErrorLog = settings, slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// Write writes a file into a new folder and returns its path.
func Write(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.pem")
	must(t, os.WriteFile(name, content, 0o600))
	return name
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
