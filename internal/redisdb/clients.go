package redisdb

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	dialTimeout = 2 * time.Second
	// ioTimeout bounds the wait for one answer; the largest commands here are
	// some megabytes.
	ioTimeout = 5 * time.Second
	// connBuffer is what each connection reads and writes through; there are some
	// dozens, and what is larger goes around it.
	connBuffer     = 8 << 10
	defaultRetries = 2
	// noRetries is go-redis's word for a client that sends each command once.
	noRetries = -1
	// redirects bounds how often a cluster may send one command elsewhere.
	redirects = 4
	// topologyEvery is how old a client's picture of the cluster may be: so long
	// a master that is gone is still asked after a replica took its place.
	topologyEvery = time.Second
)

// newClient returns a client of a Redis that has an address; retries may be
// noRetries.
func newClient(topology Topology, options redis.UniversalOptions, retries int) redis.UniversalClient {
	limited := withLimits(options, retries)
	switch topology {
	case Sentinel:
		return redis.NewFailoverClient(limited.Failover())
	case Cluster:
		return newCluster(limited)
	default:
		return redis.NewClient(limited.Simple())
	}
}

// withLimits gives the clients of every topology the same limits.
func withLimits(options redis.UniversalOptions, retries int) *redis.UniversalOptions {
	options.MaxRetries = retries
	options.DialTimeout = dialTimeout
	options.DialerRetries = 1
	options.ReadTimeout = ioTimeout
	options.WriteTimeout = ioTimeout
	options.ContextTimeoutEnabled = true
	options.ReadBufferSize, options.WriteBufferSize = connBuffer, connBuffer
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &options
}

// newCluster returns a cluster's client. go-redis follows a cluster's redirects
// and repeats after a broken connection by one counter, so the counter must
// stay, and a client without retries hides from it what broke.
func newCluster(options *redis.UniversalOptions) *redis.ClusterClient {
	cluster := options.Cluster()
	cluster.MaxRetries = noRetries // of one node; the counter above it is enough
	cluster.MaxRedirects = redirects
	cluster.ClusterStateReloadInterval = topologyEvery
	client := redis.NewClusterClient(cluster)
	if options.MaxRetries == noRetries {
		client.OnNewNode(func(node *redis.Client) { node.AddHook(noRetryHook{}) })
	}
	return client
}

// noRetryHook keeps a cluster's client from sending a command again that a node
// may have executed. What a node answers, MOVED among it, passes: then
// it has executed nothing. Pipelines are not covered, since go-redis repeats
// them underneath; a pipeline over several nodes of a cluster may only hold what
// may run twice.
type noRetryHook struct{}

// DialHook changes nothing.
func (noRetryHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook changes nothing.
func (noRetryHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook hides the cause of a command that has no answer.
func (noRetryHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		var (
			answer redis.Error
			broken *net.OpError
		)
		switch {
		case err == nil, errors.As(err, &answer), errors.Is(err, redis.ErrClosed):
			return err
		case errors.As(err, &broken) && broken.Op == "dial":
			return err // nothing was sent
		}
		return noReplyError{cause: err}
	}
}

// noReplyError says what broke the connection under a command. It has no
// Unwrap, on purpose: by its chain go-redis would find that it may try again.
type noReplyError struct{ cause error }

// Error returns the text of the cause.
func (e noReplyError) Error() string { return e.cause.Error() }

// Is finds the end of a context, which is never tried again.
func (e noReplyError) Is(target error) bool {
	return (target == context.Canceled || target == context.DeadlineExceeded) && errors.Is(e.cause, target)
}
