//go:build race

package httpapi_test

// raceDetector reports whether the test was built with the race detector, which makes code several
// times slower.
const raceDetector = true
