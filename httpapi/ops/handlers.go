package ops

import (
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

// Handlers answer requests about restaurants, syncs and versions.
type Handlers struct {
	deps      Deps
	diffSlots chan struct{} // one element per comparison in progress

	statesMu sync.Mutex    // held while states is computed
	states   *stateSummary // the last result
}

// Deps are the dependencies of the handlers.
type Deps struct {
	Replica   *replica.Replica
	Store     *cache.Store
	Directory *directory.Directory
	Runner    *menusync.Runner
	Journal   ordering.Journal
	Audit     *audit.Log
	Clock     func() time.Time
	Log       logrus.FieldLogger
}

// New returns the handlers.
func New(deps Deps) *Handlers {
	return &Handlers{deps: deps, diffSlots: make(chan struct{}, maxDiffs)}
}
