package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// The bundled packages are byte for byte as published.
func TestVendored(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"uPlot.esm.js":   "5dd9b3281aa64b461b42d9945f6adb2649d346502b12281a9ae0d46599a80eba",
		"uPlot.min.css":  "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
		"uPlot.esm.d.ts": "af44374f6e808be4f7f3fa5888b9c7574dca9f8a15a66d54b6763535802c8080",
		"LICENSE":        "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
	} {
		body, err := os.ReadFile(filepath.Join("vendor", "uplot", name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the hash %x, want %s", name, sum, want)
		}
	}
}
