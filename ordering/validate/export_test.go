package validate

// ParseTime is parseTime.
var ParseTime = parseTime

// assign is assigner.assign with a new assigner.
func assign(slots []groupSlot, selections []selection, work *int) bool {
	return new(assigner).assign(slots, selections, work)
}

// Order checks an order as AppendResult does.
func (v *Validator) Order(req Request) (*Result, error) {
	o := &Order{}
	if err := o.decode(newDecoder(req.Input), levelsOf(req.Catalogue), nil); err != nil {
		return nil, err
	}
	return v.newCheck(o, req).run().result(), nil
}
