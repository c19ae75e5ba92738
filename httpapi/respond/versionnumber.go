package respond

import (
	"strconv"
)

// VersionNumber reads the number of a version.
func VersionNumber(name, text string) (int64, error) {
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return 0, InvalidParameter(name, "is the number of a version, from 1")
	}
	return version, nil
}
