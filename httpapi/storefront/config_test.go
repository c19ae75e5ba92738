package storefront

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"larder.local/internal/setting"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, valid := range []Config{
		{},
		{Currency: "EUR", Color: "#14532d", Logo: "/logo.svg", Font: "Georgia, serif"},
		{Color: "#FC0", Logo: "https://img.example:8443/a/logo-2.svg?v=1", Font: "Noto Sans, Ubuntu Sans, system-ui"},
		{Font: "メイリオ, sans-serif"},
	} {
		if err := errors.Join(valid.Check()...); err != nil {
			t.Errorf("%+v: %v", valid, err)
		}
	}
	for key, values := range map[string][]string{
		"http.page.color": {"red", "14532d", "#14532", "#14532d;}", "#fff}body{display:none", "url(//evil)", "#14532d\n"},
		"http.page.logo": {
			"logo.svg", "//evil.example/logo.svg", "/\\evil.example", "http://img.example/logo.svg", "javascript:alert(1)", "https://img.example",
			"https://img.example/a b", "https://img.example;script-src/x", `/"onerror=`, "https://user@img.example/x", "data:image/svg+xml,x",
		},
		"http.page.font": {`"Georgia"`, "Georgia;", "a}", "url(x)", "a,,b", "a\\b", "<b>", "a\nb", "expression(1)"},
	} {
		for _, value := range values {
			c := map[string]Config{"http.page.color": {Color: value}, "http.page.logo": {Logo: value}, "http.page.font": {Font: value}}[key]
			fault, wrong := errors.AsType[*setting.Error](errors.Join(c.Check()...))
			if !wrong || fault.Key != key || !strings.Contains(fault.Msg, fmt.Sprintf("%q", value)) || !strings.Contains(fault.Msg, "write ") {
				t.Errorf("%s: %q: %v", key, value, fault)
			}
		}
	}
}

func TestBrandCSS(t *testing.T) {
	t.Parallel()
	if css := (Config{Currency: "EUR"}).brandCSS(); len(css) != 0 {
		t.Errorf("without a brand: %s", css)
	}
	css := string(Config{Color: "#fc0", Font: "Noto Sans,serif"}.brandCSS())
	for _, want := range []string{"--brand:#ffcc00;--on-brand:#000000;--brand-shade:#ffffff;", `--larder-font:1rem/1.45 "Noto Sans",serif}`} {
		if !strings.Contains(css, want) {
			t.Errorf("%s is not in\n%s", want, css)
		}
	}
}

// Every brand colour is legible: text on it, and it as text on larder's cards.
func TestBrandIsLegible(t *testing.T) {
	t.Parallel()
	const least = 4.5
	for r := 0; r < 256; r += 17 {
		for g := 0; g < 256; g += 17 {
			for b := 0; b < 256; b += 17 {
				c := color{float64(r), float64(g), float64(b)}
				for _, back := range []string{"#ffffff", "#f7f4f1", "#181614", "#24211e"} {
					surface := map[bool]string{true: "#f7f4f1", false: "#24211e"}[back > "#8"]
					accent := c.legibleOn(parseColor(surface))
					if got := accent.contrast(parseColor(back)); got < least {
						t.Fatalf("%v as text on %s is %v with the contrast %.2f", c, back, accent, got)
					}
					if got := accent.contrast(accent.textOn()); got < least {
						t.Fatalf("text on %v has the contrast %.2f", accent, got)
					}
				}
				if got := c.contrast(c.textOn()); got < least {
					t.Fatalf("text on %v has the contrast %.2f", c, got)
				}
			}
		}
	}
}

func TestMoneyAndMeasures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ digits, currency, lang, want string }{
		{"489", "EUR", "en", "€489"},
		{"1234567.5", "EUR", "en", "€1,234,567.50"},
		{"1234", "RUB", "ru", "1\u00a0234\u00a0₽"},
		{"179.9", "EUR", "en", "€179.90"},
		{"179.9", "RUB", "ru", "179,90\u00a0₽"},
		{"1.125", "CHF", "en", "CHF\u00a01.125"},
		{"12.5", "CHF", "ru", "12,50\u00a0CHF"},
		{"12", "", "ru", "12"},
		{"12", "", "en", "12"},
	} {
		if got := moneyText(c.digits, c.currency, c.lang, false); got != c.want {
			t.Errorf("%s %s in %s: %q, want %q", c.digits, c.currency, c.lang, got, c.want)
		}
	}
}
