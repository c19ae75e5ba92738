package auth

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
)

func TestFailedAttemptsAreLoggedTwiceAMinute_H8(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, hook := logtest.NewNullLogger()
		r := &refusals{log: log, counts: map[string]int{}}
		for i := range 4000 {
			r.add(fmt.Sprint("192.0.2.", i%2*i))
		}
		r.mu.Lock()
		counted := len(r.counts)
		r.mu.Unlock()
		if got := len(hook.AllEntries()); got != 1 || counted > maxAddresses {
			t.Errorf("%d lines at once, %d addresses in memory", got, counted)
		}
		time.Sleep(refusalWindow + time.Second)
		synctest.Wait()
		last := hook.LastEntry()
		want := logrus.Fields{"event": "auth.failed", "address": "192.0.2.0", "count": 1999, "addresses": maxAddresses, "total": 3999}
		if len(hook.AllEntries()) != 2 || fmt.Sprint(last.Data) != fmt.Sprint(want) {
			t.Errorf("%d lines, the last %v, want %v", len(hook.AllEntries()), last.Data, want)
		}
		time.Sleep(10 * refusalWindow)
		synctest.Wait()
		if got := len(hook.AllEntries()); got != 2 {
			t.Errorf("%d lines without further failures", got)
		}
	})
}
