package menu

// SeverityOf returns the severity of a code.
func SeverityOf(code string) Severity { return severityOf(code) }

// ErrForeignStops is errForeignStops.
var ErrForeignStops = errForeignStops

// CategoryByID calls categoryByID.
func (c *Content) CategoryByID(id string) (Index, bool) { return c.categoryByID(id) }

// SchemeByID calls schemeByID.
func (c *Content) SchemeByID(id string) (Index, bool) { return c.schemeByID(id) }

// HasMeasure reports whether Measure is not nil.
func (e Entry) HasMeasure() bool { return e.values().hasMeasure }

// AppendView is AppendAnswer without the envelope.
func (p Published) AppendView(dst []byte) ([]byte, error) {
	answer, err := p.AppendAnswer(nil)
	if err != nil {
		return nil, err
	}
	return append(dst, answer[len(`{"result":`):len(answer)-1]...), nil
}
