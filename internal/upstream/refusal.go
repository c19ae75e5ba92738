package upstream

import (
	"net/http"
	"slices"
	"strings"
)

// codePOS is the code of an error of the POS (docs/ordering-service.md, section 4.2).
const codePOS = "ERR_EXTERNAL_ERROR_WS"

// refused reports whether the service certainly did not execute a call (policy O8b).
func refused(op Operation, status int, d responseBody, cfg *Config) bool {
	switch {
	case status == http.StatusMovedPermanently, status == http.StatusFound,
		status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
		return true
	case status == http.StatusUnauthorized, status == http.StatusRequestTimeout,
		status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return false
	case status >= 400 && status <= 499:
		return op != OpCreate || status != http.StatusConflict // the order may exist
	case status < 500 || status > 599, status == http.StatusBadGateway, status == http.StatusGatewayTimeout:
		return false // a gateway that answers 502 or 504 does not know what the service did
	case slices.ContainsFunc(cfg.RefusalCodes, func(entry string) bool { return matches(entry, d) }):
		return true
	case status != http.StatusInternalServerError || !d.isErrorShape() || cfg.speaksOfDoubt(d.msg):
		return false
	}
	return op == OpComplete || op == OpReject || op == OpPay && d.code == codePOS
}

// RefusalCode returns the entry of connections[].refusal_codes that makes responses like this one refusals: its code. It
// is empty if no entry can, or if the message speaks of time or of a lost connection: then the code does not always mean a
// refusal (policy O8b).
func RefusalCode(op Operation, status int, code, msg string) string {
	judged := status == http.StatusBadGateway || status == http.StatusGatewayTimeout || status > 599 // unknown, whatever the code
	if judged || new(Config).speaksOfDoubt(msg) || status < 500 && (status > 299 || op == OpCreate) {
		return ""
	}
	return code
}

// matches reports whether an entry of connections[].refusal_codes, CODE or CODE: part of msg, matches a body.
func matches(entry string, d responseBody) bool {
	code, part, _ := strings.Cut(entry, ":")
	return d.code != "" && d.code == strings.TrimSpace(entry) || d.code == strings.TrimSpace(code) && contains(d.msg, strings.TrimSpace(part))
}

// speaksOfDoubt reports whether a message says that somebody did not wait for the end of the call, or lost the connection.
func (c *Config) speaksOfDoubt(msg string) bool {
	found := func(word string) bool { return contains(msg, word) }
	return slices.ContainsFunc(timeoutWords, found) || slices.ContainsFunc(c.TimeoutWords, found)
}

//nolint:gochecknoglobals // constant
var timeoutWords = []string{
	"timeout", "time-out", "timed out", "expired", "таймаут", "тайм-аут", "время ожидания", "срок ожидания", "истекло",
	"task was cancel", "operation was cancel", "connection reset", "hang up", "no response", "not respond",
	"не ответил", "не отвечает", "нет ответа",
}

// contains reports whether a text contains a part in any case.
func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}
