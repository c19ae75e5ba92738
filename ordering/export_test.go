package ordering

// assign is assigner.assign, for the tests.
func assign(slots []groupSlot, selections []selection, work *int) bool {
	return new(assigner).assign(slots, selections, work)
}

// Canonical is canonical, for the tests.
func Canonical(body []byte) ([]byte, error) { return canonical(body) }
