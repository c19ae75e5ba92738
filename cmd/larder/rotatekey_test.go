package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"larder.local/cmd/larder/cli"
	"larder.local/internal/testkit/clitest"
	"larder.local/internal/testkit/faultproxy"
	"larder.local/internal/testkit/redistest"
)

// rotating is a Redis with two instances, and what was signed before a rotation. The second instance reaches
// Redis through a proxy.
type rotating struct {
	*outage
	toRedis *faultproxy.Proxy
	bases   []string
	token   string
	session string
	secret  string // the key that an attacker has read
	streams []<-chan struct{}
}

const signingKeyName = "larder:f1:signing-key"

func newRotating(t *testing.T) *rotating {
	t.Helper()
	server := redistest.Start(t, redistest.AppendOnly())
	r := &rotating{outage: newOutageOn(t, server.URL()), toRedis: faultproxy.Start(t, server.Addr())}
	r.redis = server
	r.bases = []string{r.start(t).url(t), r.startBehind(t)}
	for _, base := range r.bases {
		waitReady(t, base)
	}
	var err error
	if r.token, err = demoToken(t.Context(), r.bases[0], "ops"); err != nil {
		t.Fatal(err)
	}
	r.session = operatorSession(t, r.bases[0])
	r.secret = r.redisKey(t)
	for _, base := range r.bases {
		for _, stream := range []struct{ path, name, value string }{
			{"/v1/events?restaurant=" + r.restaurants[0], "Authorization", "Bearer " + r.token},
			{"/v1/ops/events", "Authorization", "Bearer " + r.token},
			{"/v1/ops/events", "Cookie", r.session},
		} {
			r.streams = append(r.streams, openStream(t, base+stream.path, stream.name, stream.value))
		}
	}
	return r
}

// startBehind starts an instance that reaches Redis through the proxy.
func (r *rotating) startBehind(t *testing.T) string {
	t.Helper()
	env := []string{"LARDER_LOG_FORMAT=json", "LARDER_REDIS_URL=redis://" + r.toRedis.Addr() + "/0"}
	return startProcess(t, env, "serve", "--config", r.config).url(t)
}

func (r *rotating) redisKey(t *testing.T) string {
	t.Helper()
	key, err := r.redis.Client().Get(t.Context(), signingKeyName).Result()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// operatorSession signs in and returns the cookie of the session.
func operatorSession(t *testing.T, base string) (cookie string) {
	t.Helper()
	status, cookie := signIn(t, base, "ops", "ops-secret")
	if status != http.StatusOK || cookie == "" {
		t.Fatalf("sign-in: status %d with the cookie %q", status, cookie)
	}
	return cookie
}

// openStream opens a stream. The channel has a value when it ends.
func openStream(t *testing.T, address, header, value string) (closed <-chan struct{}) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set(header, value)
	response, err := http.DefaultClient.Do(request) //nolint:bodyclose // closed when the stream ends
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", address, response.Status)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		close(ended)
	}()
	return ended
}

// opsStatus returns the status of a request for operators.
func opsStatus(t *testing.T, base, header, value string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/ops/orders", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(header, value)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode
}

// forged returns a token for operators, as anybody can sign it who has read the key.
func forged(secret string) string {
	id := sha256.Sum256([]byte("larder signing key id\n" + secret))
	part := func(value any) string {
		text, _ := json.Marshal(value)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := part(map[string]any{"alg": "HS256", "typ": "JWT", "kid": hex.EncodeToString(id[:4])}) + "." + part(map[string]any{
		"sub": "ops", "scope": "menu orders ops", "iss": "larder", "aud": []string{"larder"}, "exp": time.Now().Add(time.Hour).Unix(),
	})
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// answers waits until an instance answers the old token, the old session and a token of the attacker like that.
func (r *rotating) answers(t *testing.T, base string, want int) {
	t.Helper()
	for what, header := range map[string][2]string{
		"the old token":                {"Authorization", "Bearer " + r.token},
		"the old session":              {"Cookie", r.session},
		"a token signed by the reader": {"Authorization", "Bearer " + forged(r.secret)},
	} {
		clitest.Eventually(t, fmt.Sprintf("%s gets %d", what, want), func() bool { return opsStatus(t, base, header[0], header[1]) == want })
	}
}

// signsWith waits until an instance signs with a key. Before that, it may give out tokens of the revoked one.
func (r *rotating) signsWith(t *testing.T, base, key string) {
	t.Helper()
	clitest.Eventually(t, "the new key signs", func() bool {
		token, err := demoToken(t.Context(), base, "ops")
		return err == nil && strings.Contains(header(t, token), `"kid":"`+key+`"`)
	})
}

func (r *rotating) newTokensWork(t *testing.T) {
	t.Helper()
	for _, base := range r.bases {
		token, err := demoToken(t.Context(), base, "ops")
		if err != nil {
			t.Fatal(err)
		}
		session := operatorSession(t, base)
		for _, other := range r.bases {
			clitest.Eventually(t, "a new token and session work on every instance", func() bool {
				return opsStatus(t, other, "Authorization", "Bearer "+token) == http.StatusOK && opsStatus(t, other, "Cookie", session) == http.StatusOK
			})
		}
	}
}

// rotation is the JSON of larder token rotate-key.
type rotation struct {
	Key, Former string
	Revoked     int
}

func (r *rotating) rotate(t *testing.T, flags ...string) rotation {
	t.Helper()
	out := must(t, append([]string{"token", "rotate-key", "--json", "--config", r.config}, flags...)...)
	return clitest.FromJSON[rotation](t, out)
}

func TestRotateKey_H14(t *testing.T) {
	t.Parallel()
	t.Run("the old key is revoked", func(t *testing.T) {
		t.Parallel()
		r := newRotating(t)
		r.answers(t, r.bases[0], http.StatusOK)
		r.answers(t, r.bases[1], http.StatusOK)
		done := r.rotate(t)
		began := time.Now()
		if done.Revoked != 1 || done.Key == done.Former || r.redisKey(t) == r.secret {
			t.Errorf("rotate-key: %+v", done)
		}
		for _, base := range r.bases {
			r.answers(t, base, http.StatusUnauthorized)
		}
		for i, stream := range r.streams {
			select {
			case <-stream:
			case <-time.After(10 * time.Second):
				t.Errorf("stream %d of the old key is still open 10 seconds later", i)
			}
		}
		t.Logf("rejected and ended on both instances after %v", time.Since(began))
		r.newTokensWork(t)
		r.bases = append(r.bases, r.start(t).url(t)) // an instance that starts afterwards
		waitReady(t, r.bases[2])
		r.answers(t, r.bases[2], http.StatusUnauthorized)
		r.newTokensWork(t)
		second := r.rotate(t)
		if second.Former != done.Key || second.Key == done.Key {
			t.Errorf("a second rotation: %+v after %+v", second, done)
		}
		for _, base := range r.bases {
			r.signsWith(t, base, second.Key)
		}
		r.newTokensWork(t)
		for _, base := range r.bases {
			r.answers(t, base, http.StatusUnauthorized)
		}
	})
	t.Run("with --keep-tokens", func(t *testing.T) {
		t.Parallel()
		r := newRotating(t)
		done := r.rotate(t, "--keep-tokens")
		r.bases = append(r.bases, r.start(t).url(t))
		waitReady(t, r.bases[2])
		for _, base := range r.bases {
			r.signsWith(t, base, done.Key)
			r.answers(t, base, http.StatusOK)
		}
		r.newTokensWork(t)
		for i, stream := range r.streams {
			select {
			case err := <-stream:
				t.Errorf("stream %d of the kept key has ended: %v", i, err)
			default:
			}
		}
		if done := r.rotate(t); done.Revoked != 2 { // the kept key was only replaced
			t.Errorf("the rotation after it: %+v; want both keys revoked", done)
		}
		for _, base := range r.bases {
			r.answers(t, base, http.StatusUnauthorized)
		}
		r.newTokensWork(t)
	})
	t.Run("an instance was cut off", func(t *testing.T) {
		t.Parallel()
		r := newRotating(t)
		r.toRedis.Refuse()
		r.rotate(t)
		r.answers(t, r.bases[0], http.StatusUnauthorized)
		if status := opsStatus(t, r.bases[1], "Authorization", "Bearer "+r.token); status == http.StatusUnauthorized {
			t.Error("the instance without Redis knows of the rotation")
		}
		r.toRedis.Pass()
		r.answers(t, r.bases[1], http.StatusUnauthorized)
		r.newTokensWork(t)
		r.answers(t, r.bases[0], http.StatusUnauthorized) // it has not stored the old key again
		r.redis.Restart()
		r.newTokensWork(t)
		for _, base := range r.bases {
			r.answers(t, base, http.StatusUnauthorized)
		}
	})
	t.Run("Redis loses its data, or gets the old key back", func(t *testing.T) {
		t.Parallel()
		r := newRotating(t)
		r.rotate(t)
		for _, base := range r.bases {
			r.answers(t, base, http.StatusUnauthorized)
		}
		current := r.redisKey(t)
		client := r.redis.Client()
		for what, keep := range map[string]string{"all data is lost": "", "an old backup": r.secret} {
			if err := client.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			if keep != "" {
				if err := client.Set(t.Context(), signingKeyName, keep, 0).Err(); err != nil {
					t.Fatal(err)
				}
			}
			clitest.Eventually(t, what+": the new key is stored again", func() bool {
				return client.Get(t.Context(), signingKeyName).Val() == current
			})
			clitest.Eventually(t, what+": the revoked key is stored again", func() bool {
				return client.ZCard(t.Context(), "larder:f1:signing-keys-revoked").Val() == 1
			})
			for _, base := range r.bases {
				r.answers(t, base, http.StatusUnauthorized)
			}
			r.newTokensWork(t)
		}
	})
	t.Run("several at once, while an instance starts", func(t *testing.T) {
		t.Parallel()
		r := newRotating(t)
		var (
			all  sync.WaitGroup
			outs [4]clitest.Outcome
		)
		starting := r.start(t)
		for i := range outs {
			args := []string{"token", "rotate-key", "--json", "--config", r.config}
			if i == 0 {
				args = append(args, "--keep-tokens")
			}
			all.Go(func() { outs[i] = larder(t, args...) })
		}
		all.Wait()
		r.bases = append(r.bases, starting.url(t))
		for _, out := range outs {
			if out.Status != cli.StatusDone {
				t.Errorf("a rotation: %+v", out)
			}
		}
		for _, base := range r.bases {
			r.answers(t, base, http.StatusUnauthorized)
		}
		r.newTokensWork(t)
	})
}

// header returns the header of a token.
func header(t *testing.T, token string) string {
	t.Helper()
	first, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// H14: what cannot be rotated is an error that says what to do.
func TestRotateKeyErrors_H14(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	o := newOutageOn(t, server.URL())
	hostile, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hostile.Close() })
	go func() {
		for {
			conn, err := hostile.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, strings.Repeat("-EVIL\x1b]0;title\x07\u202e\r\n", 20))
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	replica := redistest.Start(t)
	if err := errors.Join(replica.Client().Set(t.Context(), signingKeyName, "a key", 0).Err(), replica.Client().ReplicaOf(t.Context(), "127.0.0.1", "1").Err()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"a replica":          {[]string{"LARDER_REDIS_URL=" + replica.URL()}, "(refuses writes: READONLY: it is a read-only replica: write the master's address in redis.url, or use redis+sentinel://)"},
		"no key yet":         {nil, "no signing key in Redis: an instance stores one when it starts"},
		"a configured key":   {[]string{"LARDER_AUTH_SIGNING_KEY=Zm9ydHktdHdvIGJ5dGVzIG9mIHJhbmRvbSBrZXkgaGVyZQ"}, "change it there or in its file, and restart every instance"},
		"an embedded Redis":  {[]string{"LARDER_REDIS_URL=embedded"}, "restart larder, and it has a new signing key"},
		"no Redis":           {[]string{"LARDER_REDIS_URL=redis://127.0.0.1:1"}, "the signing key at Redis 127.0.0.1:1 may be unchanged (does not answer: "},
		"a hostile Redis":    {[]string{"LARDER_REDIS_URL=redis://" + hostile.Addr().String()}, "may be unchanged ("},
		"a password missing": {[]string{"LARDER_REDIS_URL=redis://nobody:none@" + server.Addr()}, "(answers with an error: "},
	} {
		got := command{env: c.env}.run(t, "token", "rotate-key", "--config", o.config)
		if got.Status != cli.StatusFailed || !strings.Contains(got.Err, c.want) {
			t.Errorf("%s: status %d, %q; want %q", name, got.Status, got.Err, c.want)
		}
		if strings.ContainsAny(got.Out+got.Err, "\x1b\x07\u202e") {
			t.Errorf("%s: %q has control characters", name, got.Err)
		}
		if strings.Contains(got.Err, "none") {
			t.Errorf("%s: %q shows the password", name, got.Err)
		}
	}
}
