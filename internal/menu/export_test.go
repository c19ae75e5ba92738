package menu

// SeverityOf returns the severity of a code.
func SeverityOf(code string) Severity { return lintCodes[code].Severity }

// ErrForeignStops is errForeignStops.
var ErrForeignStops = errForeignStops

// CategoryByID calls categoryByID.
func (c *Content) CategoryByID(id string) (Index, bool) { return c.categoryByID(id) }

// SchemeByID calls schemeByID.
func (c *Content) SchemeByID(id string) (Index, bool) { return c.schemeByID(id) }

// HasMeasure calls hasMeasure.
func (e Entry) HasMeasure() bool { return e.hasMeasure() }

// AppendView calls appendView.
func (p Published) AppendView(dst []byte) ([]byte, error) { return p.appendView(dst) }
