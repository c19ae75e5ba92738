package upstream

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime/multipart"
	"net/url"

	"larder.local/internal/setting"
)

// The encodings of a token request (policy W1).
const (
	EncodingMultipart  = "multipart"
	EncodingURLEncoded = "urlencoded"
)

// TokenRequest is the format of the token request (policy W1). In YAML it is the name of a preset, or a
// mapping of these fields; an omitted field has the value of the preset with the same encoding.
type TokenRequest struct {
	Encoding      string `yaml:"encoding"` // multipart | urlencoded
	ClientIDField string `yaml:"client_id_field"`
	ScopeField    string `yaml:"scope_field"`
}

// presets returns the named formats: the field names of docs/ordering-service.md, section 5, as
// multipart/form-data, and RFC 6749, section 4.4.
func presets() map[string]TokenRequest {
	return map[string]TokenRequest{
		"document": {Encoding: EncodingMultipart, ClientIDField: "client_ID", ScopeField: "scopes"},
		"oauth":    {Encoding: EncodingURLEncoded, ClientIDField: "client_id", ScopeField: "scope"},
	}
}

// String returns the preset's name, or the fields if the format is not a preset.
func (r TokenRequest) String() string {
	if name, err := r.MarshalText(); err == nil {
		return string(name)
	}
	return fmt.Sprintf("{encoding: %s, client_id_field: %s, scope_field: %s}", r.Encoding, r.ClientIDField, r.ScopeField)
}

// UnmarshalText parses the name of a preset.
func (r *TokenRequest) UnmarshalText(text []byte) error {
	form, ok := presets()[string(text)]
	if !ok {
		return setting.Errorf("token_request", "unknown value %q (valid: document, oauth or {encoding, client_id_field, scope_field})", text)
	}
	*r = form
	return nil
}

// MarshalText returns the name of the preset. It returns an error if the format is not a preset.
func (r TokenRequest) MarshalText() ([]byte, error) {
	for name, form := range presets() {
		if form == r {
			return []byte(name), nil
		}
	}
	return nil, errors.New("upstream: the token request is not a preset")
}

// SetDefaults sets empty fields to the values of the preset with the same encoding.
func (r *TokenRequest) SetDefaults() {
	preset := presets()["document"]
	if r.Encoding == EncodingURLEncoded {
		preset = presets()["oauth"]
	}
	r.Encoding = cmp.Or(r.Encoding, preset.Encoding)
	r.ClientIDField = cmp.Or(r.ClientIDField, preset.ClientIDField)
	r.ScopeField = cmp.Or(r.ScopeField, preset.ScopeField)
}

func (r TokenRequest) encode(clientID, secret string) (body []byte, contentType string) {
	fields := [][2]string{
		{r.ClientIDField, clientID},
		{"client_secret", secret},
		{"grant_type", "client_credentials"},
		{r.ScopeField, "orders"},
	}
	if r.Encoding == EncodingURLEncoded {
		values := url.Values{}
		for _, f := range fields {
			values.Set(f[0], f[1])
		}
		return []byte(values.Encode()), "application/x-www-form-urlencoded"
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, f := range fields {
		_ = w.WriteField(f[0], f[1]) // writes to a bytes.Buffer do not fail
	}
	_ = w.Close()
	return form.Bytes(), w.FormDataContentType()
}
