package ratelimit_test

import (
	"fmt"

	"larder/httpapi/ratelimit"
)

func ExampleParse() {
	rate, err := ratelimit.Parse("5/m")
	fmt.Println(rate.Count, rate.Per, err)
	// Output: 5 1m0s <nil>
}
