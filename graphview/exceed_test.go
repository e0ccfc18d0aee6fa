package graphview

import (
	"errors"
	"strings"
	"testing"

	"graphview.dev/graphview/resources"
)

// TestWarningOfABound: what exceeds a bound of the graph has a warning while it
// does, and no more than that about what else is wrong with it.
func TestWarningOfABound(t *testing.T) {
	w := newWarnings(func() {})
	of := &tap{need: need{resource: resources.Resource{Version: "v1", Resource: "services"}}}
	want := func(when, text string) {
		t.Helper()
		set, _, _, _ := w.since(0)
		got := ""
		for _, s := range set {
			got += s.Message
		}
		if text == "" && got != "" || !strings.Contains(got, text) {
			t.Errorf("%s: %q, want %q", when, got, text)
		}
	}
	bound := exceeded(errors.New("more than 5 objects"))
	w.setExceeded(of, "red", "a", bound)
	want("exceeded", "services red/a: more than 5 objects")
	w.setExceeded(of, "red", "a", nil)
	want("no longer", "")
	w.setFault(of, "red", "a", errors.New("broken"))
	w.setExceeded(of, "red", "a", bound)
	want("broken, and exceeded", "broken")
	w.setExceeded(of, "red", "a", nil)
	want("broken, and no longer", "broken")
	if exceeded(nil) != nil {
		t.Error("no bound is an error")
	}
}
