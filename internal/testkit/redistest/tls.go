package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TLS makes the server accept only TLS, with a certificate for its address from the
// test's own CA (CAFile). All servers of a group have the same certificate, and
// also use TLS between them.
func TLS() Option {
	var shared *certificates
	return func(s *Server) {
		if shared == nil {
			shared = newCertificates(s.tb, s.dir)
		}
		s.tls = shared
	}
}

// CAFile returns the PEM file of the CA of the server's certificate; "" without
// TLS.
func (s *Server) CAFile() string {
	if s.tls == nil {
		return ""
	}
	return s.tls.caFile
}

// certificates are a server's certificate, its key, and the CA.
type certificates struct {
	caFile, certFile, keyFile string
	authority                 *x509.Certificate
}

func newCertificates(tb testing.TB, dir string) *certificates {
	tb.Helper()
	c := &certificates{
		caFile: filepath.Join(dir, "ca.pem"), certFile: filepath.Join(dir, "server.pem"), keyFile: filepath.Join(dir, "server.key"),
	}
	authorityKey, serverKey := newKey(tb), newKey(tb)
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "redistest authority"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "redistest server"},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.ParseIP(loopback)},
		KeyUsage:     x509.KeyUsageDigitalSignature,
		// The nodes of a cluster use theirs as server and as client.
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	c.authority = c.sign(tb, c.caFile, authority, authority, &authorityKey.PublicKey, authorityKey)
	c.sign(tb, c.certFile, server, c.authority, &serverKey.PublicKey, authorityKey)
	der, err := x509.MarshalPKCS8PrivateKey(serverKey)
	if err != nil {
		tb.Fatalf("redistest: encode a key: %v", err)
	}
	writePEM(tb, c.keyFile, "PRIVATE KEY", der)
	return c
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatalf("redistest: make a key: %v", err)
	}
	return key
}

func (c *certificates) sign(
	tb testing.TB, path string, template, by *x509.Certificate, of *ecdsa.PublicKey, with *ecdsa.PrivateKey,
) *x509.Certificate {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, by, of, with)
	if err != nil {
		tb.Fatalf("redistest: sign a certificate: %v", err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatalf("redistest: read a certificate: %v", err)
	}
	writePEM(tb, path, "CERTIFICATE", der)
	return signed
}

func writePEM(tb testing.TB, path, kind string, der []byte) {
	tb.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		tb.Fatalf("redistest: %v", err)
	}
}

// trusting returns the configuration of a client that trusts only the CA.
func (c *certificates) trusting() *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(c.authority)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// directives returns the server's TLS directives.
func (c *certificates) directives() []string {
	return []string{
		"--tls-cert-file", c.certFile, "--tls-key-file", c.keyFile,
		"--tls-ca-cert-file", c.caFile, "--tls-auth-clients", "no", "--tls-replication", "yes", "--tls-cluster", "yes",
	}
}

// lines returns the directives in the format of redis.conf.
func (c *certificates) lines() string {
	var text strings.Builder
	list := c.directives()
	for i := 0; i < len(list); i += 2 {
		fmt.Fprintf(&text, "%s %q\n", strings.TrimPrefix(list[i], "--"), list[i+1])
	}
	return text.String()
}
