package sync_test

import (
	"fmt"
	"time"

	menusync "larder.local/sync"
)

// Two restaurants with one schedule are synced at different times, and an instance
// that starts later computes the same ones.
func ExampleParseSchedule() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, restaurant := range []string{"north", "south"} {
		schedule, err := menusync.ParseSchedule("@every 2m", "", restaurant)
		if err != nil {
			fmt.Println(err)
			return
		}
		next := schedule.Next(noon)
		fmt.Println(restaurant, next.Format("15:04:05.0"), schedule.Next(next).Format("15:04:05.0"))
	}
	// Output:
	// north 12:01:45.3 12:03:45.3
	// south 12:00:53.3 12:02:53.3
}
