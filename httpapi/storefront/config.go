// Package storefront serves the page at /: a restaurant's menu as HTML for search engines and browsers
// without JavaScript, and larder's web components, which replace it.
//
// Its invariant: the menu in a page is of one version, and a page contains only what anonymous guests may
// read. A page is rendered once per version, language and view, and kept compressed within a limit of
// memory (policy H7). httpapi registers the page; the package never changes anything.
package storefront

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"larder.local/internal/setting"
)

// Config is `http.page`: the menu page at /. Policy H3 defines who may order on it.
type Config struct {
	// Enabled serves the page. The default is false.
	Enabled bool `yaml:"enabled"`
	// Currency is the ISO 4217 code of the prices, such as EUR. If empty, prices have no currency.
	Currency string `yaml:"currency"`
	// ImageOrigins are the only other origins that the page may load photos from.
	ImageOrigins []string `yaml:"image_origins"`
	// Color is the brand colour, such as #14532d.
	Color string `yaml:"color"`
	// Logo is the address of an image: a path on the page's own origin, or an https URL.
	Logo string `yaml:"logo"`
	// Font is a list of font families, separated by commas. Browsers use the first installed one.
	Font string `yaml:"font"`
}

var (
	currencyForm = regexp.MustCompile("^[A-Z]{3}$")
	colorForm    = regexp.MustCompile("^#([0-9A-Fa-f]{3}){1,2}$")
	logoForm     = regexp.MustCompile(`^(/|https://[A-Za-z0-9.:-]+/)([A-Za-z0-9._~%-]+/)*[A-Za-z0-9._~%?=&-]*$`)
	fontForm     = regexp.MustCompile(`^[\pL\pM\pN _-]+(,[\pL\pM\pN _-]+)*$`)
	genericFont  = regexp.MustCompile("^(serif|sans-serif|monospace|cursive|fantasy|system-ui|ui-(serif|sans-serif|monospace|rounded))$")
)

// Check returns all faults of the section, each a *setting.Error.
func (c Config) Check() (faults setting.Faults) {
	faults.If(c.Currency != "" && !currencyForm.MatchString(c.Currency), "http.page.currency",
		"%q is not a currency code of three capital letters, such as EUR", c.Currency)
	for i, origin := range c.ImageOrigins {
		key := setting.Index("http.page.image_origins", i)
		err := setting.Origin(key, origin)
		faults = append(faults, err)
		faults.If(err == nil && strings.ContainsAny(origin, "; ,'\"*"), key, // it would end the policy's directive
			"%q is not an origin; write only the scheme and host, such as https://img.example", origin)
	}
	faults.If(c.Color != "" && !colorForm.MatchString(c.Color), "http.page.color",
		`%q is not a colour; write # and 6 hexadecimal digits in quotes, such as "#14532d"`, c.Color)
	faults.If(c.Logo != "" && !logoForm.MatchString(c.Logo), "http.page.logo",
		"%q is not the address of an image; write a path such as /logo.svg, or a URL such as https://img.example/logo.svg", c.Logo)
	faults.If(c.Font != "" && !fontForm.MatchString(c.Font), "http.page.font",
		"%q is not a list of fonts; write their names without quotes, separated by commas, such as Georgia, serif", c.Font)
	return faults
}

// images returns the origins that the page may load images from.
func (c Config) images() []string {
	if logo, err := url.Parse(c.Logo); err == nil && logo.Host != "" {
		return append([]string{logo.Scheme + "://" + logo.Host}, c.ImageOrigins...)
	}
	return c.ImageOrigins
}

// brandCSS returns the stylesheet with the brand's colour and font. If neither is set, it is empty.
func (c Config) brandCSS() []byte {
	var css strings.Builder
	if c.Color != "" {
		brand := parseColor(c.Color)
		light, dark := brand.legibleOn(parseColor("#f7f4f1")), brand.legibleOn(parseColor("#24211e")) // the cards of base.css
		fmt.Fprintf(&css, ":root{--brand:%v;--on-brand:%v;--brand-shade:%v;", brand, brand.textOn(), brand.textOn().textOn())
		fmt.Fprintf(&css, "--larder-accent:light-dark(%v,%v);--larder-on-accent:light-dark(%v,%v)}\n", light, dark, light.textOn(), dark.textOn())
	}
	if c.Font != "" {
		names := strings.Split(c.Font, ",")
		for i, name := range names {
			if names[i] = strings.TrimSpace(name); !genericFont.MatchString(names[i]) {
				names[i] = strconv.Quote(names[i])
			}
		}
		fmt.Fprintf(&css, ":root{--larder-font:1rem/1.45 %s}\n", strings.Join(names, ","))
	}
	return []byte(css.String())
}

// color is a colour as red, green and blue, each 0 to 255.
type color [3]float64

// parseColor reads a text that matches colorForm.
func parseColor(text string) (c color) {
	size := (len(text) - 1) / 3
	for i := range c {
		digits := text[1+i*size : 1+(i+1)*size]
		value, _ := strconv.ParseUint(strings.Repeat(digits, 3-size), 16, 8) // #abc is #aabbcc
		c[i] = float64(value)
	}
	return c
}

func (c color) String() string {
	return fmt.Sprintf("#%02x%02x%02x", uint8(c[0]), uint8(c[1]), uint8(c[2]))
}

// luminance is the relative luminance of WCAG 2.
func (c color) luminance() (sum float64) {
	for i, share := range [...]float64{0.2126, 0.7152, 0.0722} {
		value := c[i] / 255
		if value <= 0.04045 {
			value /= 12.92
		} else {
			value = math.Pow((value+0.055)/1.055, 2.4)
		}
		sum += share * value
	}
	return sum
}

// contrast is the contrast ratio of WCAG 2, 1 to 21.
func (c color) contrast(other color) float64 {
	a, b := c.luminance()+0.05, other.luminance()+0.05
	return max(a, b) / min(a, b)
}

// textOn returns white or black, whichever has more contrast on the colour.
func (c color) textOn() color {
	black, white := color{}, color{255, 255, 255}
	if c.contrast(white) >= c.contrast(black) {
		return white
	}
	return black
}

// legibleOn mixes the colour with black or white until text in it is legible on the background (WCAG 2, AA).
func (c color) legibleOn(background color) color {
	text := background.textOn()
	mixed := c
	for step := 0.0; step <= 1 && mixed.contrast(background) < 4.55; step += 0.05 {
		for i := range mixed {
			mixed[i] = math.Round(c[i] + (text[i]-c[i])*step)
		}
	}
	return mixed
}
