// Command ginpeer contains the servers of `larder-bench peers` that are not installed
// programs, and the load generator with a fixed rate. The measurement builds it;
// larder's binary does not contain it.
//
// peer baseline  --answers FILE               an epoll loop with prepared responses
// peer gin       --answers FILE               a Gin handler with prepared responses
// peer gin-redis --answers FILE --redis URL   a Gin handler that reads Redis for each request
// peer gin-bind  --answers FILE               a Gin handler that binds an order and returns a constant
// peer usual     --redis URL --service URL    Gin handlers that place and change orders, for `larder-bench orders`
//
//	peer load      --address … --rate …         the generator; prints its result as JSON
//
// The servers listen on a free port of 127.0.0.1, which they print, until a signal
// ends them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"larder.local/tools/bench/answers"
	"larder.local/tools/bench/baseline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: peer baseline|gin|gin-redis|gin-bind|usual|load FLAGS")

// run executes the program with its arguments.
func run(ctx context.Context, words []string, out io.Writer) error {
	if len(words) == 0 {
		return errUsage
	}
	switch words[0] {
	case "load":
		return generate(ctx, words[1:], out)
	case answers.Usual:
		return serveUsual(ctx, words[1:], out)
	}
	flags := flag.NewFlagSet(words[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error contains the message
	file := flags.String("answers", "", "the file of ready answers")
	redisURL := flags.String("redis", "", "where the bodies are kept, for gin-redis")
	if err := flags.Parse(words[1:]); err != nil {
		return err
	}
	list, err := answers.Read(*file)
	if err != nil {
		return err
	}
	var handler http.Handler
	switch words[0] {
	case answers.Baseline:
	case answers.Gin:
		handler, err = ready(list)
	case answers.GinRedis:
		handler, err = fromRedis(ctx, list, *redisURL)
	case answers.GinBind:
		handler, err = binding(list)
	default:
		return errUsage
	}
	if err != nil {
		return err
	}
	listener, err := listen(ctx, out)
	if err != nil {
		return err
	}
	if handler != nil {
		return serve(ctx, listener, handler)
	}
	table := baseline.Answers{}
	for _, a := range list {
		if table[a.Path], err = a.Wire(time.Now().UTC().Format(http.TimeFormat)); err != nil {
			return err
		}
	}
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return fmt.Errorf("a listener of type %T", listener)
	}
	return baseline.Serve(ctx, tcp, table)
}

// listen opens a listener on a free port and prints its address.
func listen(ctx context.Context, out io.Writer) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(out, "listening on %s\n", listener.Addr())
	return listener, err
}

// serve runs net/http's server until ctx ends.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 75 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
