package ordering

// Canonical is canonical, for the tests.
func Canonical(body []byte) ([]byte, error) { return canonical(body) }
