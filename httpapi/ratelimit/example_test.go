package ratelimit_test

import (
	"fmt"

	"larder.local/httpapi/ratelimit"
)

func ExampleRate_UnmarshalText() {
	var rate ratelimit.Rate
	err := rate.UnmarshalText([]byte("5/m"))
	fmt.Println(rate.Count, rate.Per, err)
	// Output: 5 1m0s <nil>
}
