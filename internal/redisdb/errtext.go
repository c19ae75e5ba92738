package redisdb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// NoPermission is the class of a missing permission of larder's user.
const NoPermission = "NOPERM"

const aCluster = "it is a node of a cluster: write redis+cluster:// in redis.url"

// errorClassTexts explain classes of errors to a person.
var errorClassTexts = map[string]string{ //nolint:gochecknoglobals,gosec // constant; G101 takes a text for a password
	"OOM":         "its memory is full (maxmemory)",
	"MISCONF":     "it cannot write to its disk",
	"NOREPLICAS":  "it has fewer replicas than min-replicas-to-write",
	"READONLY":    "it is a read-only replica: write the master's address in redis.url, or use redis+sentinel://",
	"EXECABORT":   "it refused a command of a transaction: larder check --online says why",
	"MOVED":       aCluster,
	"CROSSSLOT":   aCluster,
	NoPermission:  "its user lacks a right (docs/redis.md#rights lists all)",
	"NOAUTH":      "it requires a password",
	"WRONGPASS":   "wrong user or password",
	"LOADING":     "it is loading its data",
	"MASTERDOWN":  "it is a replica without its master",
	"CLUSTERDOWN": "the cluster is incomplete",
}

// In a script's error, an older Redis writes the class after the place of the error.
var classPattern = regexp.MustCompile(`\b(OOM|MISCONF|NOREPLICAS|READONLY|NOPERM|MASTERDOWN|CLUSTERDOWN)\b|^-?([A-Z]{3,16})\b`)

// withinScript matches the text of Redis 7 for NOPERM of a command in a script.
var withinScript = regexp.MustCompile(`^ERR (ACL failure in script|The user executing the script can't)`)

// errorClass returns the class of a Redis error, "ERR" if it has none.
func errorClass(message string) string {
	message = strings.TrimPrefix(message, "EXECABORT Transaction discarded because of: ") // of EXEC itself
	switch found := classPattern.FindStringSubmatch(message); {
	case withinScript.MatchString(message):
		return NoPermission
	case found == nil:
		return "ERR"
	case found[1] != "":
		return found[1]
	default:
		return found[2]
	}
}

// forbidden matches a command that larder's user may not run; noScripts matches that the server has no scripts.
var (
	forbidden = regexp.MustCompile(`run the '([a-z|]{2,20})' command`)
	noScripts = regexp.MustCompile("(?i)unknown command ['`](eval|evalsha)['`]")
)

// missingRight returns the right whose lack an error means, as a word of ACL SETUSER in a shell; "" if it is unknown.
func missingRight(message string) string {
	switch found := forbidden.FindStringSubmatch(message); {
	case found != nil && strings.Contains(found[1], "|"):
		return "'+" + found[1] + "'"
	case found != nil:
		return "+" + found[1]
	case strings.Contains(message, "channel"):
		return "'&PREFIX:*'"
	case strings.Contains(message, " key"):
		return "'~PREFIX:*'"
	}
	return ""
}

// rightsText names the rights that larder's user lacks.
func rightsText(rights string) string {
	return "its user lacks rights: run ACL SETUSER NAME " + rights + " in Redis (docs/redis.md#rights)"
}

// classText explains an error of a class to a person, "" if the class is unknown.
func classText(class, message string) string {
	right := missingRight(message)
	switch {
	case class == NoPermission && strings.HasPrefix(right, "+eval"): // larder needs both
		return rightsText("+eval +evalsha")
	case class == NoPermission && right != "":
		return rightsText(right)
	case noScripts.MatchString(message):
		return "it does not have EVAL and EVALSHA, which larder needs"
	case strings.Contains(message, "cluster support disabled"):
		return "it is not a cluster: write redis:// in redis.url"
	case strings.Contains(message, "SELECT is not allowed in cluster mode"):
		return aCluster + ", without a database"
	case strings.Contains(message, "DB index is out of range"):
		return "it does not have the database of redis.url: write a smaller number after the host, such as /0"
	}
	return errorClassTexts[class]
}

// SafeText describes briefly why a call of Redis failed. Anyone may read it: it
// contains no address, and nothing of the text of Redis but the name of a command. The cause itself is for the log.
func SafeText(err error) string {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		if refused.Class == NoPermission || errorClassTexts[refused.Class] == aCluster {
			return "refuses commands: " + refused.Reason()
		}
		return "refuses writes: " + refused.Reason()
	}
	if said, ok := errors.AsType[redis.Error](err); ok {
		class := errorClass(said.Error())
		if why := classText(class, said.Error()); why != "" {
			class += ": " + why
		}
		return "answers with an error: " + class
	}
	if why := connErrorText(err); why != "" {
		return "does not answer: " + why
	}
	return "does not answer"
}

// RefusedText is SafeText for the error of a call, with the names of larder's keys.
func RefusedText(prefix string, err error) string {
	return strings.ReplaceAll(SafeText(AsRefused(err)), "PREFIX", prefix)
}

// RefusedCommand returns how Redis refuses a command that larder's user may not run or that the server does
// not have: "NOPERM", "unknown command", or "ERR" for an error without a known reason. It returns "" if err is no such refusal.
func RefusedCommand(err error) string {
	said, ok := errors.AsType[redis.Error](err)
	if !ok {
		return ""
	}
	text := said.Error()
	switch class := errorClass(text); {
	case class == "ERR" && strings.Contains(text, "unknown command"):
		return "unknown command"
	case strings.Contains(text, "max number of clients"), strings.Contains(text, "replica instances"):
		return "" // for the moment
	case class == NoPermission, class == "ERR":
		return class
	}
	return ""
}

// RefusalText describes a result of RefusedCommand.
func RefusalText(command, why string) string {
	if why == "ERR" {
		return command + " is answered with an error: ERR"
	}
	return command + " is refused: " + why
}

// connErrorText explains a failed connection; it returns "" for an unknown failure.
func connErrorText(err error) string {
	var timeout interface{ Timeout() bool }
	certificate, faulty := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.As(err, new(*net.DNSError)):
		return "its host name was not found"
	case faulty && errors.As(certificate.Err, new(x509.HostnameError)):
		return "its certificate is for another name: use a name of the certificate in redis.url"
	case faulty:
		return "its certificate is not trusted: if a private authority signed it, set redis.ca_file; otherwise look at its dates"
	case errors.As(err, new(tls.RecordHeaderError)):
		return "it does not use TLS: use redis:// in redis.url"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "it closed the connection; if it needs TLS, use rediss:// in redis.url"
	default:
		return ""
	}
}

// CallError returns the error of a call without a response of Redis: ErrUnavailable, or the end of ctx
// if that is the reason. doing describes the call. It returns nil if err is nil.
func CallError(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	// A connection has ctx's deadline, and may report it a moment before ctx.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= 0 {
		return fmt.Errorf("%s: %w", doing, context.DeadlineExceeded)
	}
	if errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w: %w", doing, ErrUnavailable, err)
}
