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
	// ioTimeout limits the wait for one response; the largest commands have some megabytes.
	ioTimeout = 5 * time.Second
	// connBuffer is the size of a connection's read and write buffers. There are
	// some dozen connections, and larger data does not use the buffers.
	connBuffer     = 8 << 10
	defaultRetries = 2
	// noRetries is the value of go-redis for a client that sends each command once.
	noRetries = -1
	// redirects limits how often a cluster may redirect one command.
	redirects = 4
	// topologyEvery is how old a client's view of the cluster may be. So long it
	// may use a master that a replica has replaced.
	topologyEvery = time.Second
)

// newClient returns a client of a Redis with an address; retries may be noRetries.
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

// withLimits sets the same limits for the clients of every topology.
func withLimits(options redis.UniversalOptions, retries int) *redis.UniversalOptions {
	options.MaxRetries = retries
	options.DialTimeout = dialTimeout
	options.DialerRetries = 1
	options.ReadTimeout = ioTimeout
	options.WriteTimeout = ioTimeout
	options.ContextTimeoutEnabled = true
	options.DisableIdentity = true // CLIENT SETINFO would need a right that Redis before 7.2 cannot grant
	options.ReadBufferSize, options.WriteBufferSize = connBuffer, connBuffer
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &options
}

// newCluster returns the client of a cluster. go-redis uses one counter for a cluster's redirects and
// for retries after a broken connection. So the counter must stay, and a client without retries hides
// the cause of a broken connection from go-redis.
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

// noRetryHook keeps a cluster's client from repeating a command that a node may have executed. It passes
// responses of a node, such as MOVED, because then nothing was executed. It does not cover pipelines, which
// go-redis repeats below the hook. A pipeline over several nodes may only contain commands that may run twice.
type noRetryHook struct{}

// DialHook changes nothing.
func (noRetryHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook changes nothing.
func (noRetryHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook hides the cause of a command without a response.
func (noRetryHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		broken, ok := errors.AsType[*net.OpError](err)
		switch {
		case err == nil, errors.As(err, new(redis.Error)), errors.Is(err, redis.ErrClosed):
			return err
		case ok && broken.Op == "dial":
			return err // nothing was sent
		}
		return noReplyError{cause: err}
	}
}

// noReplyError is the error of a connection that broke during a command. It has no
// Unwrap method, because go-redis would find the cause in the chain and retry.
type noReplyError struct{ cause error }

// Error returns the text of the cause.
func (e noReplyError) Error() string { return e.cause.Error() }

// Is matches the end of a context, which go-redis never retries.
func (e noReplyError) Is(target error) bool {
	return (target == context.Canceled || target == context.DeadlineExceeded) && errors.Is(e.cause, target)
}
