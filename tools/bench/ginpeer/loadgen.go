package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"time"

	"larder.local/tools/bench/loadgen"
)

// generate runs a load and prints its result.
func generate(ctx context.Context, words []string, out io.Writer) error {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	var plan loadgen.Plan
	address := flags.String("address", "", "IPv4 address and port of the server")
	request := flags.String("request", "", "the file that holds the request, byte for byte")
	flags.IntVar(&plan.Status, "status", 200, "what each answer's status must be")
	flags.Float64Var(&plan.Rate, "rate", 1000, "requests a second")
	flags.IntVar(&plan.Connections, "connections", 64, "open connections")
	flags.DurationVar(&plan.For, "for", 5*time.Second, "how long requests are due")
	flags.DurationVar(&plan.Warm, "warm", time.Second, "how much of that is not counted")
	if err := flags.Parse(words); err != nil {
		return err
	}
	content, err := os.ReadFile(*request)
	if err != nil {
		return err
	}
	plan.Addresses, plan.Requests = []string{*address}, [][]byte{content}
	found, err := loadgen.Run(ctx, plan)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(found)
}
