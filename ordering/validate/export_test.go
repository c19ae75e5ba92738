package validate

import "time"

// ParseTime is parseTime.
var ParseTime = parseTime

// FieldNames is fieldNames.
var FieldNames = fieldNames

// Order checks an order as AppendResult does.
func (v *Validator) Order(req Request) (*Result, error) {
	o := &Order{}
	if err := o.decode(newDecoder(req.Input), levelsOf(req.Catalogue), nil); err != nil {
		return nil, err
	}
	return v.newCheck(o, req).run().result(), nil
}

// WorkLeft returns how many steps of workLimit are left after the check of an order.
func WorkLeft(req Request) (int, error) {
	o := &Order{}
	if err := o.decode(newDecoder(req.Input), levelsOf(req.Catalogue), nil); err != nil {
		return 0, err
	}
	c := New(DefaultConfig(), time.Now).newCheck(o, req)
	c.run()
	return c.work, nil
}
