package redisdb

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"regexp"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// classNoPerm is the class of what larder's user may not do.
const classNoPerm = "NOPERM"

// errorClassText explains a class of errors to a person; it returns "" for an
// unknown one.
func errorClassText(class string) string {
	switch class {
	case "OOM":
		return "its memory is full (maxmemory)"
	case "MISCONF":
		return "it cannot write to its disk"
	case "NOREPLICAS":
		return "fewer replicas follow it than min-replicas-to-write asks for"
	case "READONLY":
		return "it is a replica, which takes no writes"
	case classNoPerm:
		return "its user lacks a right that larder needs"
	case "NOAUTH":
		return "it wants a password"
	case "WRONGPASS":
		return "user or password is wrong"
	case "LOADING":
		return "it is reading its data"
	case "MASTERDOWN":
		return "it is a replica without its master"
	case "CLUSTERDOWN":
		return "the cluster is not whole"
	default:
		return ""
	}
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
		if why := errorClassText(class); why != "" {
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
