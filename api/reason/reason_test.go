package reason

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCloseText(t *testing.T) {
	long := strings.Repeat("é", 100)
	for name, test := range map[string]struct {
		reason      Reason
		message     string
		want        string
		wantMessage string
	}{
		"both":         {Invalid, "spec.queries: too few", "Invalid: spec.queries: too few", "spec.queries: too few"},
		"no message":   {Stopping, "", "Stopping", ""},
		"a long one":   {Internal, long, "Internal: " + strings.Repeat("é", 56), strings.Repeat("é", 56)},
		"just fitting": {Invalid, strings.Repeat("x", 114), "Invalid: " + strings.Repeat("x", 114), strings.Repeat("x", 114)},
	} {
		t.Run(name, func(t *testing.T) {
			text := CloseText(test.reason, test.message)
			if text != test.want || len(text) > maxClose {
				t.Fatalf("text %q, want %q", text, test.want)
			}
			if r, message := ParseCloseText(text); r != test.reason || message != test.wantMessage {
				t.Errorf("parsed %q, %q", r, message)
			}
		})
	}
	if r, message := ParseCloseText("Proxy: gone"); r != "" || message != "Proxy: gone" {
		t.Errorf("a foreign text was parsed: %q, %q", r, message)
	}
}

// A word that begins another one could not be told from it where a text is cut.
func TestReasonsArePrefixFree(t *testing.T) {
	for _, a := range All() {
		for _, b := range All() {
			if a != b && strings.HasPrefix(string(b), string(a)) {
				t.Errorf("%s begins %s", a, b)
			}
		}
		if strings.ContainsAny(string(a), ": ") {
			t.Errorf("%s is no word", a)
		}
	}
}

func TestRemedyOf(t *testing.T) {
	for name, test := range map[string]struct {
		reason Reason
		code   Code
		want   Remedy
	}{
		"known":            {Unauthorized, CodePolicyViolation, Renew},
		"newer, final":     {"SomethingNew", CodePolicyViolation, Stop},
		"newer, passing":   {"SomethingNew", CodeTryAgainLater, Retry},
		"only a code":      {"", CodeNormal, Stop},
		"a lost one":       {"", 1006, Retry},
		"of an old server": {"", CodeInvalidPayload, Stop},
	} {
		t.Run(name, func(t *testing.T) {
			if got := RemedyOf(test.reason, test.code); got != test.want {
				t.Errorf("remedy %d, want %d", got, test.want)
			}
		})
	}
}

// The documentation has each word, with its code.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/stream.md")
	if err != nil {
		t.Fatal(err)
	}
	remedies := map[Remedy]string{Retry: "reconnect", Renew: "new token", Stop: "stop"}
	for _, r := range All() {
		_, row, ok := strings.Cut(string(text), "\n| `"+string(r)+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		code, then, _ := strings.Cut(row, " | ")
		if !ok || code != strconv.Itoa(int(r.Code())) || !strings.Contains(then, remedies[r.Remedy()]) {
			t.Errorf("docs/stream.md has no row of %s, %d, %s: %q", r, r.Code(), remedies[r.Remedy()], row)
		}
	}
}

func FuzzCloseText(f *testing.F) {
	f.Add("short")
	f.Add(string(make([]byte, 200)))
	f.Add(strings.Repeat("ä", 70))
	f.Fuzz(func(t *testing.T, message string) {
		whole := "Internal: " + message
		got := CloseText(Internal, message)
		if len(got) > maxClose || message != "" && whole[:len(got)] != got {
			t.Errorf("%q of %q", got, message)
		}
		if utf8.ValidString(message) && (!utf8.ValidString(got) || len(whole) > maxClose && len(got) < maxClose-3) {
			t.Errorf("%q of %q", got, message)
		}
	})
}
