package validate

// ParseTime is parseTime.
var ParseTime = parseTime

// assign is assigner.assign with a new assigner.
func assign(slots []groupSlot, selections []selection, work *int) bool {
	return new(assigner).assign(slots, selections, work)
}

// Order checks an order as AppendResult does.
func (v *Validator) Order(req Request) (*Result, error) {
	c, _ := v.checks.Get().(*validation)
	defer func() { v.done(c) }()
	c.start(v, req)
	if err := c.decode(); err != nil {
		return nil, err
	}
	return c.result(), nil
}
