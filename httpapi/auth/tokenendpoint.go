package auth

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"larder.local/httpapi/respond"
	"larder.local/internal/jsontext"
)

// The error codes of the token endpoint (RFC 6749, section 5.2).
const (
	oauthInvalidRequest   = "invalid_request"
	oauthInvalidClient    = "invalid_client"
	oauthInvalidScope     = "invalid_scope"
	oauthUnsupportedGrant = "unsupported_grant_type"
)

// tooManyFailures is the error text for a wrong secret above the limit (policy H8).
const tooManyFailures = "too many failed attempts from this address; wait, and check the client's id and secret"

// tokenAnswer is the body of a successful token response.
type tokenAnswer struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"`
	Scope       string `json:"scope"`
}

// tokenRefusal is the body of a token error (RFC 6749, section 5.2).
type tokenRefusal struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// Token answers POST /connect/token: the client credentials grant. The parameters are a multipart or
// URL-encoded form, whose names ignore case and underscores. The client may be in HTTP Basic instead.
func (a *Auth) Token(c *gin.Context) error {
	c.Header("Pragma", "no-cache")
	status, body := a.grantToken(c)
	return respond.JSON(c, status, body)
}

// grantToken checks the client and the requested grant.
func (a *Auth) grantToken(c *gin.Context) (status int, body any) {
	if a.reboundPage(c.Request) {
		return http.StatusBadRequest, tokenRefusal{oauthInvalidRequest, notOwnHost}
	}
	form, err := tokenForm(c)
	if err != nil {
		return http.StatusBadRequest, tokenRefusal{oauthInvalidRequest, err.Error()}
	}
	id, secret, scheme := form["clientid"], form["clientsecret"], "Bearer"
	if user, password, basic := c.Request.BasicAuth(); basic {
		scheme = "Basic"
		if id, secret, err = basicClient(user, password, form); err != nil {
			return http.StatusBadRequest, tokenRefusal{oauthInvalidRequest, err.Error()}
		}
	}
	client, ok := a.client(id, secret)
	if !ok {
		a.failed(c, routeToken)
		if wait, limited := a.deps.TokenFailures.Failed(id, a.ClientIP(c)); limited { // policy H8
			c.Header("Retry-After", respond.Seconds(wait))
			return http.StatusTooManyRequests, tokenRefusal{string(respond.CodeRateLimited), tooManyFailures}
		}
		c.Header("WWW-Authenticate", scheme+` realm="larder"`)
		return http.StatusUnauthorized, tokenRefusal{oauthInvalidClient, "the client is unknown or its secret is wrong"}
	}
	switch form["granttype"] {
	case "client_credentials":
		return a.issueToken(c, client, cmp.Or(form["scopes"], form["scope"]))
	case "":
		return http.StatusBadRequest, tokenRefusal{oauthInvalidRequest, "grant_type is missing; send client_credentials"}
	default:
		return http.StatusBadRequest, tokenRefusal{oauthUnsupportedGrant, "the only supported grant_type is client_credentials"}
	}
}

// issueToken selects the scopes and signs the token.
func (a *Auth) issueToken(c *gin.Context, client ClientConfig, asked string) (status int, body any) {
	scopes := client.Scopes
	if names := strings.FieldsFunc(asked, func(r rune) bool { return r == ' ' || r == ',' }); len(names) > 0 {
		scopes = make([]Scope, 0, len(names))
		for _, name := range names {
			if !Holds(client.Scopes, Scope(name)) {
				return http.StatusBadRequest, tokenRefusal{oauthInvalidScope, "the client does not have the scope " + safeText(name)}
			}
			scopes = append(scopes, Scope(name))
		}
	}
	expires := a.deps.Clock().Add(a.cfg.TokenLifetime)
	token, err := a.issue(c.Request.Context(), client, scopes, expires, (*signingKey).tokenSecret)
	if err != nil {
		_ = c.Error(err)
		p := respond.ProblemOf(err)
		if p.RetryAfter > 0 {
			c.Header("Retry-After", respond.Seconds(p.RetryAfter))
		}
		status, _ := p.Code.Status()
		return status, tokenRefusal{string(p.Code), p.Msg}
	}
	return http.StatusOK, tokenAnswer{
		AccessToken: token,
		TokenType:   "Bearer",
		ExpiresIn:   int64(a.cfg.TokenLifetime.Seconds()),
		Scope:       respond.Join(scopes, " "),
	}
}

// tokenForm reads the form of a token request. Its keys are folded names.
func tokenForm(c *gin.Context) (map[string]string, error) {
	media, parameters, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	if err != nil || (media != "multipart/form-data" && media != "application/x-www-form-urlencoded") {
		return nil, errors.New("send the parameters as multipart/form-data or application/x-www-form-urlencoded")
	}
	body, err := respond.ReadBody(c, respond.MaxSmallBody)
	if err != nil {
		return nil, errors.New(respond.ProblemOf(err).Msg)
	}
	var values url.Values
	if media == "multipart/form-data" {
		values, err = readMultipart(body, parameters["boundary"])
	} else if values, err = url.ParseQuery(string(body)); err != nil {
		err = errors.New("the form is malformed")
	}
	if err != nil {
		return nil, err
	}
	form := map[string]string{}
	for name, list := range values {
		name = jsontext.FoldName(name)
		if _, twice := form[name]; twice || len(list) > 1 {
			return nil, errors.New("the parameter " + safeText(name) + " is sent twice")
		}
		form[name] = list[0]
	}
	return form, nil
}

// readMultipart reads the parts of a multipart form.
func readMultipart(body []byte, boundary string) (url.Values, error) {
	malformed := errors.New("the multipart form is malformed")
	if boundary == "" {
		return nil, malformed
	}
	values := url.Values{}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) && len(values) > 0 {
			return values, nil
		}
		if err != nil {
			return nil, malformed
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, malformed
		}
		values.Add(part.FormName(), string(value))
	}
}

// basicClient reads the client from HTTP Basic (RFC 6749, section 2.3.1). The form must not name another client.
func basicClient(user, password string, form map[string]string) (id, secret string, err error) {
	id, idErr := url.QueryUnescape(user)
	secret, secretErr := url.QueryUnescape(password)
	if idErr != nil || secretErr != nil {
		return "", "", errors.New("the client in the Authorization header is malformed")
	}
	if form["clientsecret"] != "" || form["clientid"] != "" && form["clientid"] != id {
		return "", "", errors.New("send the client only once: in the Authorization header or in the form")
	}
	return id, secret, nil
}

// safeText makes a name from the request short and printable. RFC 6749 allows ASCII without
// quotes and backslashes in error_description.
func safeText(text string) string {
	if !utf8.ValidString(text) || len(text) > 64 {
		return "of that name"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, text)
}
