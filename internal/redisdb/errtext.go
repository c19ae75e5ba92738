package redisdb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// classNoPerm is the class of what larder's user may not do.
const classNoPerm = "NOPERM"

// errorClassTexts explain classes of errors to a person.
var errorClassTexts = map[string]string{ //nolint:gochecknoglobals // constant
	"OOM":         "its memory is full (maxmemory)",
	"MISCONF":     "it cannot write to its disk",
	"NOREPLICAS":  "fewer replicas follow it than min-replicas-to-write asks for",
	"READONLY":    "it is a replica, which takes no writes",
	classNoPerm:   "its user lacks a right that larder needs",
	"NOAUTH":      "it wants a password",
	"WRONGPASS":   "user or password is wrong",
	"LOADING":     "it is reading its data",
	"MASTERDOWN":  "it is a replica without its master",
	"CLUSTERDOWN": "the cluster is not whole",
}

// A script's error of an older Redis has the class behind where it arose.
var classPattern = regexp.MustCompile(`\b(OOM|MISCONF|NOREPLICAS|READONLY|NOPERM|MASTERDOWN|CLUSTERDOWN)\b|^-?([A-Z]{3,16})\b`)

// withinScript is how Redis 7 says NOPERM of a command within a script.
var withinScript = regexp.MustCompile(`^ERR (ACL failure in script|The user executing the script can't)`)

// errorClass returns Redis's own word for a kind of error, "ERR" where it has none.
func errorClass(message string) string {
	switch found := classPattern.FindStringSubmatch(message); {
	case withinScript.MatchString(message):
		return classNoPerm
	case found == nil:
		return "ERR"
	case found[1] != "":
		return found[1]
	default:
		return found[2]
	}
}

// SafeText says in a few words why Redis could not be asked. Anyone may read it:
// it names no address and quotes no message. The cause itself is for the log.
func SafeText(err error) string {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return "refuses writes: " + refused.Reason()
	}
	if said, ok := errors.AsType[redis.Error](err); ok {
		class := errorClass(said.Error())
		if why := errorClassTexts[class]; why != "" {
			class += ": " + why
		}
		return "answers with an error: " + class
	}
	if why := connErrorText(err); why != "" {
		return "does not answer: " + why
	}
	return "does not answer"
}

// connErrorText explains a failed connection; it returns "" for an unknown failure.
func connErrorText(err error) string {
	var (
		timeout     interface{ Timeout() bool }
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &name):
		return "its name is not found"
	case errors.As(err, &certificate):
		return "its certificate is not trusted"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "it closed the connection"
	default:
		return ""
	}
}

// CallError returns the error of a call that Redis did not answer, with what was
// being done: ErrUnavailable, or the end of ctx if that is why there is no answer.
// It returns nil if err is nil.
func CallError(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	// A connection's deadline is ctx's own, and may be reported a moment earlier.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= 0 {
		return fmt.Errorf("%s: %w", doing, context.DeadlineExceeded)
	}
	if errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w: %w", doing, ErrUnavailable, err)
}
