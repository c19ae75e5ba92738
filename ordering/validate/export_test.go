package validate

// assign is assigner.assign, for the tests.
func assign(slots []groupSlot, selections []selection, work *int) bool {
	return new(assigner).assign(slots, selections, work)
}
