package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"larder/internal/cli"
	"larder/internal/testkit/redistest"
)

// After a stop, state_dir contains the last order, even if Redis stopped first. After
// the restart, larder detects a backup that lacks only this order (policy O14a).
func TestStateDir_HasTheLastOrder_O14a(t *testing.T) {
	t.Parallel()
	for name, redisStops := range map[string]bool{"larder stops": false, "Redis stops first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis, dir := redistest.Start(t, redistest.AppendOnly()), t.TempDir()
			o := newOutageOn(t, redis.URL())
			p := startProcess(t, []string{"LARDER_LOG_FORMAT=json", "LARDER_ORDERING_STATE_DIR=" + dir}, "serve", "--config", o.config)
			base := o.serving(t, p)
			if status, _, body := o.place(t, shopper(t, base), "last"); status != http.StatusCreated {
				t.Fatalf("an order: %d %s", status, body)
			}
			want, err := redis.Client().HGet(t.Context(), "larder:{o:main}:f1:journal", "mark").Result()
			if err != nil {
				t.Fatal(err)
			}
			if redisStops {
				redis.Stop()
			}
			p.signal(t, syscall.SIGTERM)
			if status := p.status(t); status != cli.StatusDone {
				t.Fatalf("status %d\n%s", status, p.log)
			}
			text, err := os.ReadFile(filepath.Join(dir, "journal-main.json"))
			if err != nil {
				t.Fatal(err)
			}
			var kept struct{ Mark int64 }
			if err := json.Unmarshal(text, &kept); err != nil {
				t.Fatal(err)
			}
			if strconv.FormatInt(kept.Mark, 10) != want {
				t.Errorf("the file has mark %d, Redis had %s", kept.Mark, want)
			}
		})
	}
}
