package ordering_test

import (
	"context"
	"testing"

	"larder.local/internal/upstream"
	"larder.local/ordering"
)

// fixedSecret is a journal with a constant secret. It notes the specs of begun calls.
type fixedSecret struct {
	ordering.Journal
	begun *[]ordering.CallSpec
}

func (f fixedSecret) Secret(context.Context, string) ([]byte, error) {
	return []byte("0123456789abcdef0123456789abcdef"), nil
}

func (f fixedSecret) Begin(ctx context.Context, o ordering.CallSpec) (ordering.Record, error) {
	*f.begun = append(*f.begun, o)
	return f.Journal.Begin(ctx, o)
}

// TestHashes: keys and fingerprints keep their values, because journals contain them.
func TestHashes(t *testing.T) {
	t.Parallel()
	var begun []ordering.CallSpec
	h := newHarness(t, ordering.DefaultConfig(), func(_ *harness, d *ordering.Deps) { d.Journal = fixedSecret{d.Journal, &begun} })
	ref := h.placed(t).Record.Ref
	if _, err := h.Place(t.Context(), placing(func(p *placeRequest) { p.Key = "" })); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Change(t.Context(), changing(upstream.OpPay, fullPayment, compat)); err != nil {
		t.Fatal(err)
	}
	const order = "b5a740861f374ff5132b32ddd140472ba84eda098abd3ed398e3612177853313"
	for i, want := range []ordering.CallSpec{
		{Key: "98a844e76ad9d7b9f95991c90a714f4c12332db225ddbb9a3836d1cc1a9253b4", Fingerprint: order},
		{Fingerprint: order},
		{
			Key:         "05605e0b3afe73b246cc9052df3f83e717e8572673eb7683aa37d02c7c21c626",
			Derived:     true,
			Fingerprint: "8e57c10d8639e7c59e19823d366938ab45561a3e8a830ff2e023dbca3726466e",
		},
	} {
		if got := begun[i]; got.Key != want.Key || got.Derived != want.Derived || got.Fingerprint != want.Fingerprint {
			t.Errorf("call %d has the key %s, derived %t, and the fingerprint %s; want %+v", i+1, got.Key, got.Derived, got.Fingerprint, want)
		}
	}
	if got, err := h.ByKey(t.Context(), []string{"main"}, "storefront", soupKey); err != nil || got.Ref != ref {
		t.Errorf("ByKey() = %s, %v; want %s", got.Ref, err, ref)
	}
}
