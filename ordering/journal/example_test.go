package journal_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"larder.local/internal/redisdb"
	"larder.local/internal/silentlog"
	"larder.local/internal/upstream"
	"larder.local/ordering"
	"larder.local/ordering/journal"
)

// An order is recorded before it is sent, and its key finds the record later.
func Example() {
	ctx := context.Background()
	log := silentlog.New()
	r, err := redisdb.Open(redisdb.Config{URL: redisdb.Embedded}, log)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = r.Close() }()
	cfg := ordering.DefaultConfig()
	cfg.AllowNonDurable = true // the embedded Redis stores nothing on disk
	j := journal.New(r, cfg, log)

	spec := ordering.CallSpec{
		ID:         "01K9ZZZZZZZZZZZZZZZZZZZZZ1",
		Ref:        "01K9ZZZZZZZZZZZZZZZZZZZZZ2",
		Operation:  upstream.OpCreate,
		Connection: "main",
		Key:        "the key's hash",
		Client:     "storefront",
		Deadline:   50 * time.Second,
	}
	record, err := j.Begin(ctx, spec)
	fmt.Println(record.State, err)

	// … the order is sent, and the service accepts it …
	record, err = j.Finish(ctx, ordering.CallResult{
		Connection: "main",
		Ref:        record.Ref,
		Call:       1,
		Outcome:    ordering.OutcomeDone,
		OrderID:    "765",
	})
	fmt.Println(record.State, record.OrderID, err)

	// The same request is not sent again. The record has its response.
	_, err = j.Begin(ctx, spec)
	var taken *ordering.KeyTakenError
	fmt.Println(errors.As(err, &taken) && taken.Record.OrderID == "765")
	// Output:
	// placing <nil>
	// placed 765 <nil>
	// true
}
