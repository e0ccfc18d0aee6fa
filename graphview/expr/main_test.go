package expr

import (
	"errors"
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
