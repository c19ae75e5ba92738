package auth

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
)

func TestGuessableSecretsAreWeak_H8(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"Password1234567!", "aaaaaaaaaaaaaaab", "1111222233334444", "administrator1234", "letmeinletmein123", "changemechangeme1",
		"ops-secret-ops-secret-1", "larder-ops-secret", "my-ops-secret-12", "storefront-secret1", "restaurant-password",
		"terces-spo-redral", "l4rd3r-0ps-s3cr3t", "P@$$w0rdP@$$w0rd1", "2024-11-29-2025-01-01", "29.11.2024-secret", "20241129larderops",
		"qwertyuiopasdfgh", "zaq12wsxcde34rfv", "0123456789abcdef0123456789abcdef", "abcdefghijklmnopqrstuvwxyz", "Your_Client-Secret",
		"storefront-secret", "till-seven-secret", "TILL-SEVEN-till-seven", "neves-llit-secret", strings.Repeat("a", 1<<20) + "b", strings.Repeat("\xff\xfe", 40) + "a",
		"YOUR_CLIENT_SECRET_HERE_PLEASE", "please-change-this-secret", "<your-secret-here>", "REPLACE_WITH_A_SECRET", "replace-me-with-a-secret",
		"TODO-set-a-real-secret", "my-super-secret-key-2026", "example-client-secret-value", "LarderOps2026!LarderOps", "correct horse battery staple",
		"00112233445566778899aabbccddeeff", "0102030405060708090a0b0c0d0e0f10", "AbCdEfGhIjKlMnOp", "fedcba9876543210fedcba98",
		"2024-11-29-2025-01-01-7", // 2.4e13 guesses
		"larder20241129larder",    // weak only because of the words of the trade
		strings.Repeat("a", 60) + strings.Repeat("b", 60) + "q8Zr0tKcV2mXw5EaM7dL", // only the first 100 bytes count
		"ПарольПарольПароль", "kitchen-menu-order", "\x01\x01\x01\x01\x02\x02\x02\x02\x01\x01\x01\x01\x02\x02\x02\x03",
	} {
		if weakness(secret, "till-seven", minSecret) == "" {
			t.Errorf("%.40q is strong", secret)
		}
	}
}

func TestRandomSecretsAreStrong_H8(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{1}) // always the same secrets, because one of 10,000 with 16 characters is rejected
	for range 200 {
		var raw [24]byte
		_, _ = random.Read(raw[:])
		for _, secret := range []string{
			hex.EncodeToString(raw[:12]), hex.EncodeToString(raw[:]), base64.StdEncoding.EncodeToString(raw[:12]),
			base64.RawURLEncoding.EncodeToString(raw[:]), fmt.Sprintf("%x-%x-%x-%x-%x", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:16]),
			ulid.MustNew(1_790_000_000_000, random).String(),
		} {
			if fault := weakness(secret, "ops", minSecret); fault != "" {
				t.Errorf("%q %s", secret, fault)
			}
		}
	}
}

// Many clients, and long secrets, do not delay a start.
func TestSecretsAreEstimatedQuickly_H8(t *testing.T) {
	t.Parallel()
	cfg, random := Config{}, rand.NewChaCha8([32]byte{2})
	for i := range 100 {
		var raw [32]byte
		_, _ = random.Read(raw[:])
		cfg.Clients = append(cfg.Clients, ClientConfig{ID: fmt.Sprint("shop-", i), Secret: hex.EncodeToString(raw[:])})
	}
	cfg.Clients = append(cfg.Clients, ClientConfig{ID: "x", Secret: strings.Repeat("abc", 1<<18) + "x"})
	start := time.Now()
	if err := cfg.ValidateFor("of the test"); err == nil || strings.Contains(err.Error(), "clients[0]") {
		t.Error(err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("101 secrets took %v", took)
	} else {
		t.Log(took)
	}
}
