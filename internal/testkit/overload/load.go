// Package overload sends requests to instances at a fixed rate, whatever becomes
// of those before, and sums up how they were answered. It is for the tests of
// policy O8a; a generator that waits for answers could not overload anything.
package overload

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"larder/internal/sleep"
)

// Load is one stream of equal requests.
type Load struct {
	Method string
	URLs   []string // taken in turns
	Header http.Header
	Body   string
	Key    string        // begins the Idempotency-Key of each request; "" for none
	Rate   float64       // requests per second
	For    time.Duration // how long requests are sent
}

// Answer is what became of one request.
type Answer struct {
	Key        string
	Sent       time.Duration // since the load began
	Took       time.Duration
	Status     int // 0: none, see Err
	Code       string
	RetryAfter string
	Err        error
}

// Run sends the load and waits for every answer, or for the end of ctx.
func (l Load) Run(ctx context.Context) []Answer {
	transport := &http.Transport{MaxIdleConnsPerHost: 1000}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	answers := make([]Answer, int(l.Rate*l.For.Seconds()))
	begun := time.Now()
	var sending sync.WaitGroup
	for i := range answers {
		at := begun.Add(time.Duration(float64(i) / l.Rate * float64(time.Second)))
		if sleep.For(ctx, time.Until(at)) != nil {
			sending.Wait()
			return answers[:i]
		}
		sending.Go(func() { answers[i] = l.send(ctx, client, i, begun) })
	}
	sending.Wait()
	return answers
}

// send sends one request.
func (l Load) send(ctx context.Context, client *http.Client, i int, begun time.Time) Answer {
	sent := time.Now()
	a := Answer{Sent: sent.Sub(begun)}
	request, err := http.NewRequestWithContext(ctx, l.Method, l.URLs[i%len(l.URLs)], strings.NewReader(l.Body))
	if err != nil {
		a.Err = err
		return a
	}
	request.GetBody = nil // net/http must not send it again by itself
	request.Header = l.Header.Clone()
	if l.Key != "" {
		a.Key = l.Key + "-" + sent.Format("150405.000000000")
		request.Header.Set("Idempotency-Key", a.Key)
	}
	response, err := client.Do(request)
	if err != nil {
		a.Took, a.Err = time.Since(sent), err
		return a
	}
	body, err := io.ReadAll(response.Body)
	a.Took, a.Err = time.Since(sent), err
	_ = response.Body.Close()
	a.Status, a.RetryAfter = response.StatusCode, response.Header.Get("Retry-After")
	if a.Status >= http.StatusBadRequest {
		var problem struct{ Code string }
		if json.Unmarshal(body, &problem) == nil {
			a.Code = problem.Code
		}
	}
	return a
}
