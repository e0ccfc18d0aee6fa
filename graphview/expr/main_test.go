package expr

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// message is an error's text, and "" for none. Every error about a text must be
// an *Error.
func message(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	if invalid := (*Error)(nil); !errors.As(err, &invalid) {
		t.Errorf("error is a %T, want *Error: %v", err, err)
	}
	return err.Error()
}

// invalid is a text, and the error about it: "" if there is none, or its beginning and … or a part of it between two ….
type invalid struct{ text, want string }

// checkErrors parses each text.
func checkErrors(t *testing.T, texts map[string]invalid, parse func(text string) error) {
	t.Helper()
	t.Parallel()
	for name, tc := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := message(t, parse(tc.text))
			start, isStart := strings.CutSuffix(tc.want, "…")
			part, isPart := strings.CutPrefix(start, "…")
			switch {
			case isPart && strings.Contains(got, part), isStart && strings.HasPrefix(got, start):
			case got != tc.want:
				t.Errorf("error %q, want %q", got, tc.want)
			}
		})
	}
}
