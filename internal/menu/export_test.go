package menu

// SeverityOf calls severityOf.
func SeverityOf(code string) Severity { return severityOf(code) }
