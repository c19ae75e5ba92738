package menu

// SeverityOf is severityOf, for the tests.
func SeverityOf(code string) Severity { return severityOf(code) }
