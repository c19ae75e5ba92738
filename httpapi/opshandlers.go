package httpapi

import (
	"context"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"larder/cache"
	"larder/cache/replica"
	"larder/httpapi/audit"
	"larder/internal/directory"
	"larder/ordering"
	menusync "larder/sync"
)

// opsHandlers answer what operators ask about restaurants, syncs and versions.
type opsHandlers struct {
	opsDeps
	diffSlots chan struct{} // a place for each comparison under way

	statesMu sync.Mutex    // held while states is made
	states   *stateSummary // the last one
}

// opsDeps is what the handlers work with.
type opsDeps struct {
	Replica   *replica.Replica
	Store     *cache.Store
	Directory *directory.Directory
	Runner    *menusync.Runner
	Journal   opsJournal
	Audit     *audit.Log
	Clock     func() time.Time
	Log       logrus.FieldLogger
}

// opsJournal lists the orders that a summary counts.
type opsJournal interface {
	List(ctx context.Context, query ordering.Query) (records []ordering.Record, next string, err error)
}

// newOpsHandlers makes the handlers.
func newOpsHandlers(deps opsDeps) *opsHandlers {
	return &opsHandlers{opsDeps: deps, diffSlots: make(chan struct{}, maxDiffs)}
}
