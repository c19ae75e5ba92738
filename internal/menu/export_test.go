package menu

// AppendLiteral is appendLiteral for the tests.
func AppendLiteral(dst, literal []byte) []byte { return appendLiteral(dst, literal) }
