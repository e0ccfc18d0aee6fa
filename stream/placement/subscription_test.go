package placement

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/delivery"
)

// frameOf is a message with a revision and warnings, whose types are given.
func frameOf(rev, warnings, cleared string, reset bool) *delivery.Frame {
	list := func(types string) []byte {
		var out []string
		for t := range strings.FieldsSeq(types) {
			out = append(out, `{"t":"`+t+`","m":"because"}`)
		}
		return []byte(strings.Join(out, ","))
	}
	return &delivery.Frame{Rev: rev, Warnings: list(warnings), Cleared: list(cleared), Reset: reset}
}

// TestResume: after a broken connection a subscriber continues from its last complete graph,
// and no longer has the warnings that have gone meanwhile.
func TestResume(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after []*delivery.Frame
		wantSince     string
		wantCleared   string
	}{
		"nothing complete":     {before: []*delivery.Frame{frameOf("", "A", "", true)}},
		"complete":             {before: []*delivery.Frame{frameOf("a.1", "", "", true), frameOf("", "", "", false)}, wantSince: "a.1"},
		"reset since":          {before: []*delivery.Frame{frameOf("a.1", "", "", false), frameOf("", "", "", true)}},
		"a warning stays":      {before: []*delivery.Frame{frameOf("a.1", "A", "", false)}, after: []*delivery.Frame{frameOf("a.2", "A", "", false)}, wantSince: "a.1"},
		"a warning has gone":   {before: []*delivery.Frame{frameOf("a.1", "A B", "", false)}, after: []*delivery.Frame{frameOf("", "B", "", false), frameOf("a.2", "", "", false)}, wantSince: "a.1", wantCleared: `{"cleared":[{"t":"A"}]}`},
		"it went before":       {before: []*delivery.Frame{frameOf("a.1", "A", "", false), frameOf("", "", "A", false)}, after: []*delivery.Frame{frameOf("a.2", "", "", false)}, wantSince: "a.1"},
		"a reset forgets them": {before: []*delivery.Frame{frameOf("a.1", "A", "", false)}, after: []*delivery.Frame{frameOf("b.1", "", "", true)}, wantSince: "a.1"},
	} {
		t.Run(name, func(t *testing.T) {
			var r received
			if _, err := r.note(tt.before); err != nil {
				t.Fatal(err)
			}
			if got := r.resume(); got != tt.wantSince {
				t.Errorf("it continues from %q, want %q", got, tt.wantSince)
			}
			if tt.wantSince == "" {
				return // it is reset
			}
			frames, err := r.note(tt.after)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range frames[len(tt.after):] {
				got += string(f.JSON)
			}
			if diff := cmp.Diff(tt.wantCleared, got); diff != "" {
				t.Error(diff)
			}
			if again, err := r.note([]*delivery.Frame{frameOf("a.3", "", "", false)}); err != nil || len(again) != 1 {
				t.Errorf("then come %d messages, %v", len(again), err)
			}
		})
	}
	if _, err := new(received).note([]*delivery.Frame{{Warnings: []byte(`{"t":`)}}); err == nil {
		t.Error("a broken warning is taken")
	}
}
