package validate_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"larder.local/internal/testkit/menutest"
	"larder.local/internal/upstream"
	"larder.local/ordering/validate"
	"larder.local/ordering/violation"
)

// strictTime is the form in which larder sends times (policy W16).
var strictTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// sentTimes returns the expectedAt and the paidAt that larder sends for a text, on one of the APIs.
func sentTimes(t *testing.T, text string, isV1 bool) (expectedAt, paidAt string, order *validated) {
	t.Helper()
	req := v1(t, `{`+soup+`,"expeditionType":"pickup","paymentTypeID":"cash","expectedAt":`+quoted(text)+`}`)
	req.V1 = isV1
	order = check(t, validate.DefaultConfig(), req)
	var sent struct{ ExpectedAt string }
	if order.Valid {
		if err := json.Unmarshal(order.Order, &sent); err != nil {
			t.Fatal(err)
		}
	}
	payments, err := validate.ReadPayments(validate.Input{
		Body: []byte(`[{"code":"c","amount":1,"paidAt":` + quoted(text) + `}]`), V1: isV1, FieldCase: upstream.FieldCaseDocument,
	})
	if err != nil {
		t.Fatal(err)
	}
	if list, _ := payments.Violations(); len(list) > 0 {
		return sent.ExpectedAt, list[0].Msg, order
	}
	var paid []struct{ PaidAt string }
	if err := json.Unmarshal(payments.Upstream(), &paid); err != nil {
		t.Fatal(err)
	}
	if listed := payments.List()[0].PaidAt; listed != paid[0].PaidAt {
		t.Errorf("the record has paidAt %s, sent was %s", listed, paid[0].PaidAt)
	}
	return sent.ExpectedAt, paid[0].PaidAt, order
}

func quoted(text string) string {
	literal, _ := json.Marshal(text)
	return string(literal)
}

// Both APIs read every form of ISO 8601 with an offset, for expectedAt and paidAt. They send the same moment and offset
// with seconds, as Z or ±hh:mm (policy W16).
func TestTimesOfISO8601_W16(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, date := range []string{"2006-01-02T15:04", "20060102T1504"} {
		for _, seconds := range []string{"", "00", "07", "07.5", "07,5", "07.123456", "07,1234567", "59.999999999"} {
			for _, offset := range []string{"Z", "+00", "+0000", "+00:00", "-00:00", "+03", "-03", "+0300", "-0330", "+05:45", "+14:00", "-12", "+23:59"} {
				form, colon := date, ""
				if strings.Contains(date, ":") {
					colon = ":"
				}
				if seconds != "" {
					form += colon + seconds
				}
				wantZone := offset
				switch len(offset) {
				case 3:
					wantZone += ":00"
				case 5:
					wantZone = offset[:3] + ":" + offset[3:]
				}
				want, err := time.Parse(time.RFC3339Nano, "2026-05-03T18:30:"+strings.Replace("00"[:2-min(2, len(seconds))]+seconds, ",", ".", 1)+wantZone)
				if err != nil {
					t.Fatal(err)
				}
				text := want.Format(date) + strings.TrimPrefix(form, date) + offset
				for _, isV1 := range []bool{true, false} {
					expectedAt, paidAt, order := sentTimes(t, text, isV1)
					got, err := time.Parse(time.RFC3339Nano, expectedAt)
					if err != nil || !strictTime.MatchString(expectedAt) || !got.Equal(want) || got.Format("-07:00") != want.Format("-07:00") {
						t.Errorf("%s is sent as %q, want %s (%v)", text, expectedAt, want.Format(time.RFC3339Nano), brokenOf(t, order))
					}
					if paidAt != expectedAt {
						t.Errorf("%s is sent as paidAt %q, and as expectedAt %q", text, paidAt, expectedAt)
					}
					if !order.ExpectedAt.Equal(want) {
						t.Errorf("%s is recorded as %s, want %s", text, order.ExpectedAt, want)
					}
					tried++
				}
			}
		}
	}
	if tried != 2*8*13*2 {
		t.Errorf("%d forms", tried)
	}
	for text, want := range map[string]string{
		"2026-05-01T16:30:00+03:00":             "2026-05-01T16:30:00+03:00", // as it was sent
		"2026-05-01T13:30:00+00:00":             "2026-05-01T13:30:00+00:00",
		"2026-05-01T13:30:00.120Z":              "2026-05-01T13:30:00.120Z",
		"2026-05-01T13:30:00,1234567890123456Z": "2026-05-01T13:30:00.1234567890123456Z", // every digit
		"2026-05-01T24:00+03":                   "2026-05-02T00:00:00+03:00",
		"20260501T240000Z":                      "2026-05-02T00:00:00Z",
		"2026-05-31T24:00:00,000-0330":          "", // too far
		"2026-05-01T23:59:60Z":                  "", // Go and most services know no leap seconds
		"2026-05-01t15:30z":                     "2026-05-01T15:30:00Z",
		"2026-05-01T15:30\u221203:00":           "2026-05-01T15:30:00-03:00", // the minus sign of ISO 8601
	} {
		expectedAt, paidAt, _ := sentTimes(t, text, true)
		if expectedAt != want || want != "" && paidAt != want {
			t.Errorf("%s is sent as expectedAt %q and paidAt %q, want %q", text, expectedAt, paidAt, want)
		}
	}
}

// A date and time without an offset has its own violation, in each form.
func TestTimesWithoutAnOffset(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2026-05-01T18:30", "2026-05-01T18:30:00.5", "20260501T1830", "20260501T183000,5", "2026-05-01 18:30:00", "20260501 1830"} {
		_, paidAt, order := sentTimes(t, text, true)
		want := []menutest.Broken{{Path: "/expectedAt", Code: violation.TimeZoneMissing, Params: `{}`}}
		if got := brokenOf(t, order); fmt.Sprint(got) != fmt.Sprint(want) || !strings.Contains(paidAt, "offset") {
			t.Errorf("%s: violations %v and %q", text, got, paidAt)
		}
	}
}

// FuzzParseTime: what is accepted is sent in one form, which means the same, and is a moment of the text's own calendar.
func FuzzParseTime(f *testing.F) {
	for _, text := range []string{
		"2026-05-01T16:30:00+03:00", "20260501T1530Z", "2026-05-01T15:30:07,5+0300", "2026-05-01T24:00-12", "2026-05-01T23:59:60Z", "2026-05-01T15:30",
		"0000-01-01T00:00Z", "9999-12-31T24:00Z", "2026-02-29T00:00Z", "2026-05-01T15:30\u221203", "2026-05-01 15:30Z", "2026-05-01T15:30:00.Z", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, sent, hasZone := validate.ParseTime(text)
		if sent == "" {
			if _, err := time.Parse(time.RFC3339Nano, text); err == nil && strictTime.MatchString(text) && !strings.Contains(text[20:], "+24") && !strings.Contains(text[20:], "-24") && !strings.HasSuffix(text, ":60") {
				t.Fatalf("%q is RFC 3339, and refused", text)
			}
			return
		}
		if !hasZone || !strictTime.MatchString(sent) {
			t.Fatalf("%q is sent as %q", text, sent)
		}
		same, err := time.Parse(time.RFC3339Nano, sent)
		if err != nil || !same.Equal(at) || same.Format("-07:00") != at.Format("-07:00") {
			t.Fatalf("%q is read as %s and sent as %q (%v)", text, at, sent, err)
		}
		if _, again, _ := validate.ParseTime(sent); again != sent {
			t.Fatalf("%q is sent as %q, and that as %q", text, sent, again)
		}
		if strictTime.MatchString(text) && !strings.Contains(text, "T24") && text[17:19] != "60" && sent != text {
			t.Fatalf("%q is sent as %q", text, sent)
		}
	})
}
