package tracing

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"

	"larder.local/internal/setting"
)

// Config is the `tracing:` section of the configuration.
type Config struct {
	// Endpoint receives spans by OTLP over HTTP, without /v1/traces; empty: tracing is off.
	Endpoint string `yaml:"endpoint"`
	// Sample is the share of traces that is kept, 0 to 1, chosen by trace id. It applies to traces that
	// start here, and to traces that a caller started and keeps.
	Sample float64 `yaml:"sample"`
}

// SetDefaults sets the defaults. It runs before the file is read, so that a zero in the file stays.
func (c *Config) SetDefaults() { c.Sample = cmp.Or(c.Sample, 1) }

// Validate checks the section. The error joins one *setting.Error for each fault.
func (c Config) Validate() error {
	var faults setting.Faults
	msg := endpointFault(c.Endpoint)
	faults.If(msg != "", "tracing.endpoint", "%s", msg)
	faults.If(!(c.Sample >= 0 && c.Sample <= 1), "tracing.sample", "%v is not between 0 and 1", c.Sample) // also not NaN
	return errors.Join(faults...)
}

func endpointFault(endpoint string) string {
	if endpoint == "" {
		return ""
	}
	parsed, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return "is not a valid URL (start with http:// or https://)" // the parser's message may contain a password
	case parsed.User != nil:
		return "must not contain a user or password; set them in OTEL_EXPORTER_OTLP_HEADERS"
	case parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "":
		return fmt.Sprintf("%q: write http:// or https:// and a host, as in http://127.0.0.1:4318", endpoint)
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return fmt.Sprintf("%q: must have neither query nor fragment", endpoint)
	}
	return ""
}
