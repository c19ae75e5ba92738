package tracing

import (
	"errors"
	"fmt"
	"math"
	"net/url"

	"larder/internal/setting"
)

// Config is the section tracing of the configuration.
type Config struct {
	// Endpoint is where spans are sent by OTLP over HTTP, without /v1/traces;
	// empty: nothing is traced.
	Endpoint string `yaml:"endpoint"`
	// Sample is the share of traces that is kept, 0 to 1, by the trace's id: of
	// those that begin here, and of those that a caller began and keeps.
	Sample float64 `yaml:"sample"`
}

// SetDefaults fills what is not set. It runs before the file is read, so that
// a zero in the file counts.
func (c *Config) SetDefaults() {
	if c.Sample == 0 {
		c.Sample = 1
	}
}

// Validate checks the section. Every fault comes back, each a *setting.Error,
// joined.
func (c Config) Validate() error {
	var errs []error
	if msg := endpointFault(c.Endpoint); msg != "" {
		errs = append(errs, setting.Errorf("tracing.endpoint", "%s", msg))
	}
	if math.IsNaN(c.Sample) || c.Sample < 0 || c.Sample > 1 {
		errs = append(errs, setting.Errorf("tracing.sample", "%v is not between 0 and 1", c.Sample))
	}
	return errors.Join(errs...)
}

// endpointFault returns why an endpoint cannot be used, or "".
func endpointFault(endpoint string) string {
	if endpoint == "" {
		return ""
	}
	parsed, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return "is no URL" // the parser's words would repeat a password
	case parsed.User != nil:
		return "must hold no user and password: give them in OTEL_EXPORTER_OTLP_HEADERS"
	case parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "":
		return fmt.Sprintf("%q: write http:// or https:// and a host, as http://127.0.0.1:4318", endpoint)
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return fmt.Sprintf("%q: must have neither query nor fragment", endpoint)
	}
	return ""
}
