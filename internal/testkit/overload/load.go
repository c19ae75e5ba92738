// Package overload sends requests to instances at a fixed rate, without waiting for
// earlier answers, and summarizes the answers. It is for the tests of policy O8a:
// a load generator that waits for answers could not cause an overload.
package overload

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"larder.local/internal/sleep"
)

// Load describes requests that are sent at a fixed rate. They differ only in their URL and Idempotency-Key.
type Load struct {
	Method string
	URLs   []string // used in turn
	Header http.Header
	Body   string
	Key    string        // prefix of each request's Idempotency-Key; "" for none
	Rate   float64       // requests per second
	For    time.Duration // duration of the load
}

// Answer is the result of one request.
type Answer struct {
	Key        string
	Sent       time.Duration // since the start of the load
	Took       time.Duration
	Status     int // 0 if there was no response; see Err
	Code       string
	RetryAfter string
	Err        error
}

// Run sends the requests and waits for all their results. If ctx ends, it sends no more and returns the results
// of the requests that were sent.
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
	request.GetBody = nil // so that net/http does not send the request again
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
