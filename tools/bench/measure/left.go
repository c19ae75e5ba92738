package measure

import (
	"fmt"
	"time"
)

// Left says how fast something goes and how long the rest of it takes, at the
// mean pace so far: ", 35/s, 5s left". It says nothing as long as nothing is
// done, and of what goes slower than one a second the rest alone.
func Left(done, total int, passed time.Duration) string {
	if done <= 0 || done >= total || passed <= 0 {
		return ""
	}
	each := passed / time.Duration(done)
	left := each * time.Duration(total-done)
	text := fmt.Sprintf(", %v left", left.Round(time.Second))
	if rate := float64(done) / passed.Seconds(); rate >= 1 {
		text = fmt.Sprintf(", %.0f/s", rate) + text
	}
	return text
}
