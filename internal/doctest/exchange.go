package doctest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"regexp"
	"strings"
)

// name is a word of a request that stands for something an answer before it had
// (`{ref}`, `{orderID}`), or for a client's token.
var name = regexp.MustCompile(`\{[A-Za-z]+\}`)

// exchange sends the step's request and tells how the answer differs from the page's.
func (s *Step) exchange(ctx context.Context, w *World) string {
	request, err := s.read(ctx, w)
	if err != nil {
		return err.Error()
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return err.Error()
	}
	body, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err != nil || closed != nil {
		return fmt.Sprint(err, closed)
	}
	body = []byte(w.back.Replace(string(body)))
	w.remember(body)
	if s.answer == nil {
		if response.StatusCode/100 != 2 {
			return fmt.Sprintf("answered with %s\n%s", response.Status, body)
		}
		return ""
	}
	return s.judge(response, body)
}

// read makes a request of the block: a request line, headers, and a body behind
// an empty line.
func (s *Step) read(ctx context.Context, w *World) (*http.Request, error) {
	text, err := w.fill(ctx, s.request)
	if err != nil {
		return nil, err
	}
	head, body := cut(text)
	line, fields, _ := strings.Cut(head, "\n")
	words := strings.Fields(line)
	header, err := textproto.NewReader(bufio.NewReader(strings.NewReader(fields + "\n\n"))).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("the request's headers: %w", err)
	}
	host := w.Addresses[0][0]
	if named := header.Get("Host"); named != "" {
		host = named
	}
	request, err := http.NewRequestWithContext(ctx, words[0], "http://"+w.here.Replace(host)+words[1], strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	header.Del("Host")
	maps.Copy(request.Header, header)
	if _, asked := header["Accept-Encoding"]; !asked {
		request.Header.Set("Accept-Encoding", "identity")
	}
	return request, nil
}

// cut parts head and body.
func cut(text string) (head, body string) {
	head, body, _ = strings.Cut(strings.TrimRight(text, "\n"), "\n\n")
	return head, body
}

// fill puts what names stand for in their places.
func (w *World) fill(ctx context.Context, text string) (string, error) {
	var failed error
	filled := name.ReplaceAllStringFunc(text, func(word string) string {
		inside := strings.Trim(word, "{}")
		if value, known := w.answered[inside]; known {
			return value
		}
		token, err := w.Token(ctx, inside)
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s stands for nothing that was answered before, nor for a client: %w", word, err)
		}
		return token
	})
	return filled, failed
}

// remember keeps the fields of an answer, or of its result, for later requests.
func (w *World) remember(body []byte) {
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return // no object: there is nothing to refer to
	}
	if result, ok := fields["result"].(map[string]any); ok {
		fields = result
	}
	for field, value := range fields {
		switch value := value.(type) {
		case string:
			w.answered[field] = value
		case float64:
			w.answered[field] = fmt.Sprint(value)
		}
	}
}

// judge compares status, the headers that the page has, and the body.
func (s *Step) judge(response *http.Response, body []byte) string {
	head, want := cut(s.answer.text)
	line, fields, _ := strings.Cut(head, "\n")
	var differ []string
	if got := response.Proto + " " + response.Status; got != strings.TrimSpace(line) {
		differ = append(differ, fmt.Sprintf("answered with %s, the page has %s", got, line))
	}
	for field := range strings.Lines(fields) {
		key, value, _ := strings.Cut(strings.TrimSpace(field), ": ")
		if got := strings.Join(response.Header.Values(key), ", "); !sameString(value, got) {
			differ = append(differ, fmt.Sprintf("%s: %q, the page has %q", key, got, value))
		}
	}
	switch {
	case want == anything:
	case strings.HasPrefix(want, "{") || strings.HasPrefix(want, "["):
		if wrong := matchJSON([]byte(want), body); wrong != "" {
			differ = append(differ, wrong)
		}
	default:
		if wrong := matchText(want+"\n", strings.TrimRight(string(body), "\n")+"\n"); wrong != "" {
			differ = append(differ, wrong)
		}
	}
	if len(differ) == 0 {
		return ""
	}
	return strings.Join(differ, "\n") + "\n" + string(body)
}
