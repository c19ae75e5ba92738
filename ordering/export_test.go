package ordering

// assign is flow.assign, for the tests.
func assign(demands []demand, supplies []supply, work *int) bool {
	return new(flow).assign(demands, supplies, work)
}

// Canonical is canonical, for the tests.
func Canonical(body []byte) ([]byte, error) { return canonical(body) }
