package measure

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"larder.local/internal/sleep"
)

// changes changes the availability of dishes at the ordering service, syncs, and
// waits until every replica shows it.
func (m *measuring) changes(ctx context.Context) error {
	if m.Changes == 0 {
		return nil
	}
	heard, err := m.listen(ctx)
	if err != nil {
		return err
	}
	defer heard.stop()
	var whole, notices []time.Duration
	for i := range m.Changes {
		restaurant := m.Restaurants[(i*7919)%len(m.Restaurants)]
		took, each, err := m.change(ctx, heard, m.serving[i%len(m.serving)], restaurant)
		if err != nil {
			return fmt.Errorf("change %d, of %s: %w", i+1, restaurant, err)
		}
		whole = append(whole, took)
		notices = append(notices, each...)
	}
	f := m.figures
	f.Changes = m.Changes
	f.ChangeMid, f.ChangeP99 = Duration(Quantile(whole, 0.5)), Duration(Quantile(whole, 0.99))
	f.NoticeMid, f.NoticeP99 = Duration(Quantile(notices, 0.5)), Duration(Quantile(notices, 0.99))
	for _, d := range notices {
		if d > time.Second {
			f.NoticeLost++
		}
	}
	m.Say("  %d changes: on all replicas after %v (p99 %v), notices take %v (p99 %v)", f.Changes,
		time.Duration(f.ChangeMid).Round(time.Millisecond), time.Duration(f.ChangeP99).Round(time.Millisecond),
		time.Duration(f.NoticeMid).Round(10*time.Microsecond), time.Duration(f.NoticeP99).Round(10*time.Microsecond))
	return nil
}

// changeWithin is the timeout of one change.
const changeWithin = time.Minute

// change toggles the availability of a dish and waits until all instances show it. It
// returns the time from the change at the service until the last replica shows it, and
// for the other replicas the time from the notice.
func (m *measuring) change(ctx context.Context, heard *noticeListener, through *Instance, restaurant string) (whole time.Duration, each []time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, changeWithin)
	defer cancel()
	dish, available, err := m.firstDish(ctx, through, restaurant)
	if err != nil {
		return 0, nil, err
	}
	noticed := heard.await(restaurant)
	began := time.Now()
	answer, err := m.cluster.Ask(ctx, http.MethodPatch, m.cluster.ServiceURL+"/sandbox/stop-list/"+restaurant, fmt.Sprintf(`{%q: %t}`, dish, available), "Content-Type", "application/json")
	if err != nil || answer.Status != http.StatusOK {
		return 0, nil, fmt.Errorf("stop list: %d %w", answer.Status, err)
	}
	shown := make([]time.Time, len(m.serving))
	group, ctx := errgroup.WithContext(ctx)
	for i, l := range m.serving {
		group.Go(func() (err error) {
			shown[i], err = m.shows(ctx, l, restaurant, dish, !available)
			return err
		})
	}
	group.Go(func() error {
		outcome, err := through.Sync(ctx, restaurant)
		// A scheduled sync may have fetched the change before.
		if err == nil && outcome != "updated" && outcome != "unchanged" {
			err = fmt.Errorf("the sync ended %q", outcome)
		}
		return err
	})
	var reported time.Time
	group.Go(func() error {
		select {
		case reported = <-noticed:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	if err := group.Wait(); err != nil {
		return 0, nil, err
	}
	for i, at := range shown {
		if m.serving[i] != through { // it needs no notice
			each = append(each, max(at.Sub(reported), 0))
		}
	}
	return slices.MaxFunc(shown, time.Time.Compare).Sub(began), each, nil
}

type dishes struct {
	Result []struct {
		ID        string
		Available bool
	}
}

func (m *measuring) firstDish(ctx context.Context, l *Instance, restaurant string) (id string, available bool, err error) {
	var list dishes
	if err := m.cluster.get(ctx, l.URL+"/v1/restaurants/"+restaurant+"/products?limit=1", &list); err != nil {
		return "", false, err
	}
	if len(list.Result) == 0 {
		return "", false, fmt.Errorf("measure: %s has no dish", restaurant)
	}
	return list.Result[0].ID, list.Result[0].Available, nil
}

// shows waits until the instance shows the dish's availability, and returns the time.
func (m *measuring) shows(ctx context.Context, l *Instance, restaurant, dish string, available bool) (time.Time, error) {
	var product struct {
		Result struct{ Available bool }
	}
	for {
		if err := m.cluster.get(ctx, l.URL+"/v1/restaurants/"+restaurant+"/products/"+dish, &product); err != nil {
			return time.Time{}, err
		}
		if product.Result.Available == available {
			return time.Now(), nil
		}
		if err := sleep.For(ctx, time.Millisecond); err != nil {
			return time.Time{}, fmt.Errorf("%s does not show the change: %w", l.name, err)
		}
	}
}
