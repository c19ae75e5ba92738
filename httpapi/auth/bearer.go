package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"
	"github.com/redis/go-redis/v9"
	"github.com/sirupsen/logrus"

	"larder.local/httpapi/ratelimit"
	"larder.local/httpapi/respond"
	"larder.local/internal/directory"
	"larder.local/internal/redisdb"
)

// Caller is the authenticated sender of a request.
type Caller struct {
	Client     string
	Scopes     []Scope
	Connection string // the only connection that it sees; empty means all
	Expires    time.Time
	key        *signingKey // signed the token
	among      *clientSet  // the configured clients when the token was read
	session    bool        // a browser signed in to /ops
}

// Sees reports whether the caller may see data of a connection. Restaurants, runs and reasons
// of other connections are answered as unknown.
func (w Caller) Sees(connection string) bool { return w.Viewer().Sees(connection) }

// Viewer returns the connection to which the caller is limited.
func (w Caller) Viewer() directory.Viewer { return directory.Viewer(w.Connection) }

// BySession reports whether the caller is a browser that is signed in to /ops.
func (w Caller) BySession() bool { return w.session }

// Holds reports whether the scopes include one, by itself or in another one (policy H2).
func Holds(scopes []Scope, want Scope) bool {
	return slices.Contains(scopes, want) || want == ScopeMenu && slices.Contains(scopes, ScopeOrders) ||
		(want == ScopeOpsRead || want == ScopeSync) && slices.Contains(scopes, ScopeOps)
}

const keyCaller = "larder.caller" // of gin.Context

// CallerOf returns the caller that a middleware has authenticated. Its Client is empty if the request is anonymous.
func CallerOf(c *gin.Context) Caller {
	if who, ok := c.Value(keyCaller).(*Caller); ok {
		return *who
	}
	return Caller{}
}

// claims are the claims of larder's tokens.
type claims struct {
	Scope string `json:"scope"`
	jwt.RegisteredClaims
}

// Auth authenticates clients, and issues and checks their tokens and sessions. Policy H2.
type Auth struct {
	clients     atomic.Pointer[clientSet] // the configured clients; a reload replaces them
	cfg         Config
	deps        Deps
	refusals    refusals
	keys        *signingKeys
	parser      *jwt.Parser
	tokenCache  tokenCache
	crossOrigin http.CrossOriginProtection // for the sessions of /ops

	watching sync.Mutex // guards watches
	watches  map[*clientWatch]struct{}
}

// Deps are the dependencies of an Auth.
type Deps struct {
	Redis *redisdb.DB // stores the signing key if none is configured
	// Hosts are the server's own names (http.hosts). Exposed reports whether requests of other
	// machines can reach the server.
	Hosts   []string
	Exposed bool
	Proxies Proxies // http.trusted_proxies

	TokenFailures, SignInFailures ratelimit.Failures
	Failed                        func(route string) // counts a failed attempt
	Version                       string             // of the build
	Clock                         func() time.Time
	Log                           logrus.FieldLogger
	// SignedIn and SignedOut are called when an operator's session begins or ends. The request has its caller.
	SignedIn, SignedOut func(c *gin.Context)
}

// New expects a configuration that Validate accepts. Only Run reads Redis.
func New(cfg Config, deps Deps) *Auth {
	a := &Auth{
		watches:  map[*clientWatch]struct{}{},
		cfg:      cfg,
		deps:     deps,
		refusals: refusals{log: deps.Log, counts: map[string]int{}},
		keys:     signingKeysOf(cfg, deps.Redis, deps.Clock),
	}
	a.tokenCache.byID = map[[sha256.Size]byte]*Caller{}
	a.keys.changed = a.keysChanged
	a.clients.Store(&clientSet{})
	a.SetClients(cfg.Clients)
	a.parser = jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(cfg.Issuer), jwt.WithAudience(cfg.Audience),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(deps.Clock), jwt.WithStrictDecoding(),
	)
	return a
}

// Run reads and restores the signing keys in Redis until ctx ends.
func (a *Auth) Run(ctx context.Context) { a.keys.run(ctx) }

// HasSigningKey reports whether the signing key is in memory. If not, it reads it from Redis, at most once a
// second. Without the key, tokens cannot be checked while Redis is down.
func (a *Auth) HasSigningKey(ctx context.Context) bool {
	_, err := a.keys.current(ctx)
	return err == nil
}

// SigningKeyError returns the error with which Redis answered the last read of the signing keys, nil if it did not. Without a
// key in memory, tokens cannot be checked; with one, rotations and revocations are not noticed.
func (a *Auth) SigningKeyError() error {
	if failed := a.keys.failing.Load(); failed != nil {
		if _, answered := errors.AsType[redis.Error](*failed); answered {
			return *failed
		}
	}
	return nil
}

// client checks a client's secret. It takes the same time for an unknown client and for a wrong secret.
func (a *Auth) client(id, secret string) (ClientConfig, bool) {
	client, known := a.clients.Load().byID[id]
	want, got := sha256.Sum256([]byte(client.Secret)), sha256.Sum256([]byte(secret))
	same := subtle.ConstantTimeCompare(want[:], got[:]) == 1
	return client, known && same && client.Secret != ""
}

// secretOf returns the secret that signs the tokens of a client: [signingKey.tokenSecret] or [signingKey.sessionSecret].
type secretOf func(*signingKey, ClientConfig) []byte

// issue signs a token with these scopes for the client.
func (a *Auth) issue(ctx context.Context, client ClientConfig, scopes []Scope, expires time.Time, secret secretOf) (string, error) {
	key, err := a.keys.current(ctx)
	if err != nil {
		return "", err
	}
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		Scope: respond.Join(scopes, " "),
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    a.cfg.Issuer,
			Audience:  jwt.ClaimStrings{a.cfg.Audience},
			Subject:   client.ID,
			IssuedAt:  jwt.NewNumericDate(a.deps.Clock()),
			ExpiresAt: jwt.NewNumericDate(expires),
		},
	})
	token.Header["kid"] = key.id
	return token.SignedString(secret(key, client))
}

// read checks a token. The caller gets only those scopes of the token that its client still has.
func (a *Auth) read(ctx context.Context, text string, secret secretOf) (Caller, error) {
	var (
		fault error
		key   *signingKey
	)
	said, among := &claims{}, a.clients.Load()
	_, err := a.parser.ParseWithClaims(text, said, func(token *jwt.Token) (any, error) {
		id, _ := token.Header["kid"].(string)
		if key, fault = a.keys.byID(ctx, id); fault != nil {
			return nil, fault
		}
		if key == nil {
			return nil, errors.New("the token was signed with an unknown key")
		}
		return secret(key, among.byID[said.Subject]), nil
	})
	if fault != nil {
		return Caller{}, fault
	}
	if err != nil {
		msg := "the token is not valid; request a new one at /connect/token"
		if errors.Is(err, jwt.ErrTokenExpired) {
			msg = "the token has expired; request a new one at /connect/token"
		}
		return Caller{}, &respond.Problem{Code: respond.CodeUnauthorized, Msg: msg, Cause: err}
	}
	client, known := among.byID[said.Subject]
	if !known {
		return Caller{}, unauthorized("the token's client has been removed; use another client")
	}
	who := Caller{
		Client:     client.ID,
		Connection: client.Connection,
		Expires:    said.ExpiresAt.Time,
		key:        key,
		among:      among,
	}
	for scope := range strings.FieldsSeq(said.Scope) {
		if Holds(client.Scopes, Scope(scope)) {
			who.Scopes = append(who.Scopes, Scope(scope))
		}
	}
	return who, nil
}

func unauthorized(msg string) *respond.Problem {
	return &respond.Problem{Code: respond.CodeUnauthorized, Msg: msg}
}

// bearer reads the request's bearer token. given is false without an Authorization header.
func (a *Auth) bearer(c *gin.Context) (who *Caller, given bool, err error) {
	header := c.Request.Header["Authorization"]
	if len(header) == 0 {
		return nil, false, nil
	}
	if len(header) == 1 {
		if who = a.Cached([]byte(header[0])); who != nil {
			return who, true, nil
		}
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	if len(header) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, true, unauthorized("send one Authorization header: Bearer followed by a token from /connect/token")
	}
	checked, err := a.read(c.Request.Context(), strings.TrimSpace(token), (*signingKey).tokenSecret)
	if guessed(err) {
		a.failed(c, routeBearer)
	}
	// Only the usual form is cached. Otherwise one token in many forms would evict the others.
	if err == nil && scheme == "Bearer" && token == strings.TrimSpace(token) {
		a.tokenCache.add(header[0], &checked)
	}
	return &checked, true, err
}

// maxCachedTokens limits the cached tokens: about 2 MiB when full.
const maxCachedTokens = 8192

// tokenCache caches the callers of checked Authorization headers, by a hash of the header. Nothing modifies a cached caller.
type tokenCache struct {
	mu   sync.RWMutex
	byID map[[sha256.Size]byte]*Caller
}

// Cached returns the caller of a cached Authorization header, or nil. An entry is valid until the token
// expires, the signing key changes, or the clients change. Cached does not allocate.
func (a *Auth) Cached(header []byte) *Caller {
	id := sha256.Sum256(header)
	a.tokenCache.mu.RLock()
	who := a.tokenCache.byID[id]
	a.tokenCache.mu.RUnlock()
	if who == nil || !a.deps.Clock().Before(who.Expires) || a.keys.signing.Load() != who.key || a.clients.Load() != who.among {
		return nil
	}
	return who
}

// add caches the caller of a header. If the cache is full, it evicts a random entry.
func (k *tokenCache) add(header string, who *Caller) {
	id := sha256.Sum256([]byte(header))
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.byID[id]; !known && len(k.byID) >= maxCachedTokens {
		for other := range k.byID {
			delete(k.byID, other)
			break
		}
	}
	k.byID[id] = who
}
