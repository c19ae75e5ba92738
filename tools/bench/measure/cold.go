package measure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"larder.local/internal/sleep"
)

// cold starts another instance with a full Redis, reads menus for the first time,
// watches it while it only polls, and ends it.
func (m *measuring) cold(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute+m.PollWindow)
	defer cancel()
	began := time.Now()
	l, err := m.cluster.Add(ctx, "LARDER_SYNC_SCHEDULE=@every 24h") // it syncs nothing
	if err != nil {
		return err
	}
	defer l.Stop()
	if err := l.Ready(ctx); err != nil {
		return err
	}
	m.figures.ColdReady = Duration(time.Since(began))
	if err := m.firstReads(ctx, l); err != nil {
		return err
	}
	for {
		missing, err := m.missing(ctx, l)
		if err != nil {
			return err
		}
		if missing == 0 {
			break
		}
		if err := sleep.For(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	m.figures.ColdServed = Duration(time.Since(began))
	if m.figures.ColdRSS, m.figures.ColdHeap, err = m.memory(ctx, l); err != nil {
		return err
	}
	m.Say("  a new replica was ready after %v and had all after %v; %d first reads: median %v, longest %v",
		time.Duration(m.figures.ColdReady).Round(time.Millisecond), time.Duration(m.figures.ColdServed).Round(time.Millisecond),
		m.figures.FirstReads, time.Duration(m.figures.FirstReadMid).Round(10*time.Microsecond), time.Duration(m.figures.FirstReadMax).Round(10*time.Microsecond))
	return m.polling(ctx, l)
}

// firstReads reads menus for the first time.
func (m *measuring) firstReads(ctx context.Context, l *Instance) error {
	reads := make([]time.Duration, 0, m.Reads)
	for i := range min(m.Reads, len(m.Restaurants)) {
		// The restaurants are of all chains, so that each content is read for the first time.
		restaurant := m.Restaurants[i*len(m.Restaurants)/min(m.Reads, len(m.Restaurants))]
		asked := time.Now()
		answer, err := m.cluster.Ask(ctx, http.MethodGet, l.URL+"/v1/restaurants/"+restaurant+"/menu", "", "Accept-Encoding", "gzip")
		if err != nil {
			return err
		}
		if answer.Status != http.StatusOK {
			return fmt.Errorf("the first read of %s answered %d", restaurant, answer.Status)
		}
		reads = append(reads, time.Since(asked))
	}
	m.figures.FirstReads = len(reads)
	m.figures.FirstReadMid, m.figures.FirstReadMax = Duration(Quantile(reads, 0.5)), Duration(Quantile(reads, 1))
	return nil
}

// polling measures the CPU time of an instance that only compares its versions with
// Redis every few seconds (cache.poll).
func (m *measuring) polling(ctx context.Context, l *Instance) error {
	before, err := CPU(l.PID())
	if err != nil {
		return err
	}
	began := time.Now()
	if err := sleep.For(ctx, m.PollWindow); err != nil {
		return err
	}
	after, err := CPU(l.PID())
	if err != nil {
		return errors.Join(err, l.Alive())
	}
	m.figures.PollCPU = (after - before).Seconds() / time.Since(began).Minutes()
	m.Say("  a replica that only polls takes %.2f CPU seconds a minute", m.figures.PollCPU)
	return nil
}
