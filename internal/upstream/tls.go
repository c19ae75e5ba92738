package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"larder.local/internal/setting"
	"larder.local/internal/smallfile"
)

// TLS is the section tls of a connection: files in PEM for the TLS of the ordering service and its token endpoint
// (policy H13).
type TLS struct {
	// CAFile has the only trusted certificates; empty means those of the system.
	CAFile string `yaml:"ca_file"`
	// CertFile and KeyFile are the certificate with which larder shows who it is, and its key.
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

// TLSFiles is the content of the files of a TLS section.
type TLSFiles struct {
	content [3]string // of the files of CAs, certificate and key
	config  *tls.Config
}

// Load reads the files. The error is a *setting.Error.
func (t TLS) Load() (*TLSFiles, error) {
	files := &TLSFiles{config: &tls.Config{MinVersion: tls.VersionTLS12}}
	for i, file := range [][2]string{{"tls.ca_file", t.CAFile}, {"tls.cert_file", t.CertFile}, {"tls.key_file", t.KeyFile}} {
		if file[1] != "" {
			text, err := smallfile.Read(file[1])
			if err != nil {
				return nil, setting.Errorf(file[0], "cannot be read: %v", err)
			}
			files.content[i] = string(text)
		}
	}
	if t.CAFile != "" {
		files.config.RootCAs = x509.NewCertPool()
		if !files.config.RootCAs.AppendCertsFromPEM([]byte(files.content[0])) {
			return nil, setting.Errorf("tls.ca_file", "%s contains no PEM certificate", t.CAFile)
		}
	}
	switch {
	case t.CertFile == "" && t.KeyFile == "":
		return files, nil
	case t.KeyFile == "":
		return nil, setting.Errorf("tls.key_file", "is missing: it is the key of tls.cert_file")
	case t.CertFile == "":
		return nil, setting.Errorf("tls.cert_file", "is missing: it is the certificate of tls.key_file")
	}
	if strings.Contains(files.content[2], "ENCRYPTED") { // PKCS 8, and the older form
		return nil, setting.Errorf("tls.key_file", "%s is encrypted: write the key without a passphrase (openssl pkey)", t.KeyFile)
	}
	pair, err := tls.X509KeyPair([]byte(files.content[1]), []byte(files.content[2]))
	if err != nil {
		return nil, setting.Errorf("tls.cert_file", "%s cannot be used with tls.key_file %s: %v", t.CertFile, t.KeyFile, err)
	}
	files.config.Certificates = []tls.Certificate{pair}
	return files, nil
}

// check checks the section of a connection.
func (t TLS) check(c Config) error {
	if t == (TLS{}) {
		return nil
	}
	for _, address := range [][2]string{{"base_url", c.BaseURL}, {"auth_url", c.AuthURL}} {
		if !strings.HasPrefix(strings.ToLower(address[1]), "https://") && address[1] != "" {
			return setting.Errorf("tls", "is for TLS: write https:// in %s", address[0])
		}
	}
	_, err := t.Load()
	return err
}

// Warning returns why the service will not accept the certificate at a time, or "".
func (t TLS) Warning(now time.Time) string {
	files, err := t.Load()
	if err != nil || len(files.config.Certificates) == 0 {
		return ""
	}
	leaf := files.config.Certificates[0].Leaf
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Sprintf("the certificate expired at %s: write a new one to it and send SIGHUP", leaf.NotAfter.Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return "the certificate is not valid before " + leaf.NotBefore.Format(time.RFC3339)
	}
	return ""
}

// secure uses the files for all later connections. If their content has changed, it closes the idle ones.
func (c *Client) secure(files *TLSFiles) {
	if before := c.files.Swap(files); before != nil && before.content == files.content {
		return
	}
	if before := c.reads.Swap(newReadTransport(c.cfg, c.dial, files.config)); before != nil {
		before.CloseIdleConnections()
	}
	if writes, ok := c.writes.(*writeSender); ok && writes.Settings() != nil {
		writes.Secure(orderTLS(writes.base, files.config))
	}
}

// orderTLS returns the settings for calls that write.
func orderTLS(base *url.URL, settings *tls.Config) *tls.Config {
	settings = settings.Clone()
	settings.ServerName = base.Hostname()
	settings.NextProtos = []string{"http/1.1"}
	settings.ClientSessionCache = tls.NewLRUClientSessionCache(0) // for cheap handshakes
	settings.DynamicRecordSizingDisabled = true                   // an order is one record
	return settings
}

// advised adds to an error of TLS what to do about it.
func advised(err error) error {
	_, wrongName := errors.AsType[x509.HostnameError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	alert, isAlert := errors.AsType[*net.OpError](err)
	switch isAlert = isAlert && alert.Op == "remote error"; { // of the service
	case wrongName:
		return fmt.Errorf("%w: the service's certificate is for another name: correct base_url or auth_url", err)
	case unknown:
		return fmt.Errorf("%w: no trusted authority signed the service's certificate: set its authority as tls.ca_file", err)
	case isInvalid && invalid.Reason == x509.Expired:
		return fmt.Errorf("%w: the service's certificate is not valid now: it must be renewed at the service, or the clock here is wrong", err)
	case isAlert && strings.Contains(alert.Err.Error(), "certificate required"):
		return fmt.Errorf("%w: the service requires a certificate: set tls.cert_file and tls.key_file", err)
	case isAlert && (strings.Contains(alert.Err.Error(), "certificate") || strings.Contains(alert.Err.Error(), "handshake failure")):
		return fmt.Errorf("%w: the service requires a certificate, or does not accept this one: check tls.cert_file and tls.key_file", err)
	}
	return err
}
