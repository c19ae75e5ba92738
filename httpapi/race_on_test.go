//go:build race

package httpapi_test

// raceDetector reports whether the test was built with the race detector,
// under which code takes several times as long.
const raceDetector = true
