package upstream

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime/multipart"
	"net/url"
	"strings"

	"larder/internal/setting"
)

// The encodings of a token request, and the names of its presets (policy W1).
const (
	EncodingMultipart  = "multipart"
	EncodingURLEncoded = "urlencoded"

	PresetDocument = "document"
	PresetOAuth    = "oauth"
)

// TokenRequest is the form of the token request (policy W1). In YAML it is the
// name of a preset, or a mapping of these fields; a field left out follows the
// preset that has the same encoding.
type TokenRequest struct {
	Encoding      string `yaml:"encoding"` // multipart | urlencoded
	ClientIDField string `yaml:"client_id_field"`
	ScopeField    string `yaml:"scope_field"`
}

// TokenRequestDocument is the preset "document": the field names of
// docs/ordering-service.md, section 5, as multipart/form-data.
func TokenRequestDocument() TokenRequest {
	return TokenRequest{Encoding: EncodingMultipart, ClientIDField: "client_ID", ScopeField: "scopes"}
}

// TokenRequestOAuth is the preset "oauth": RFC 6749, section 4.4.
func TokenRequestOAuth() TokenRequest {
	return TokenRequest{Encoding: EncodingURLEncoded, ClientIDField: "client_id", ScopeField: "scope"}
}

// String gives the preset's name, or the fields of a form that is none.
func (r TokenRequest) String() string {
	switch r {
	case TokenRequestDocument():
		return PresetDocument
	case TokenRequestOAuth():
		return PresetOAuth
	}
	return fmt.Sprintf("{encoding: %s, client_id_field: %s, scope_field: %s}",
		r.Encoding, r.ClientIDField, r.ScopeField)
}

// UnmarshalText reads the name of a preset.
func (r *TokenRequest) UnmarshalText(text []byte) error {
	switch string(text) {
	case PresetDocument:
		*r = TokenRequestDocument()
	case PresetOAuth:
		*r = TokenRequestOAuth()
	default:
		return setting.Errorf("token_request",
			"%q: use document, oauth or {encoding, client_id_field, scope_field}", text)
	}
	return nil
}

// MarshalText returns the name of the preset, and an error for a form that is none.
func (r TokenRequest) MarshalText() ([]byte, error) {
	name := r.String()
	if strings.HasPrefix(name, "{") {
		return nil, errors.New("upstream: no preset")
	}
	return []byte(name), nil
}

// SetDefaults fills in what is not set by the preset that has the same encoding.
func (r *TokenRequest) SetDefaults() {
	preset := TokenRequestDocument()
	if r.Encoding == EncodingURLEncoded {
		preset = TokenRequestOAuth()
	}
	r.Encoding = cmp.Or(r.Encoding, preset.Encoding)
	r.ClientIDField = cmp.Or(r.ClientIDField, preset.ClientIDField)
	r.ScopeField = cmp.Or(r.ScopeField, preset.ScopeField)
}

// encode returns the request's body and its content type.
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
		_ = w.WriteField(f[0], f[1]) // a bytes.Buffer fails no write
	}
	_ = w.Close()
	return form.Bytes(), w.FormDataContentType()
}
