package graphview

import (
	"errors"
	"testing"

	"graphview.dev/graphview/watch"
)

// TestFilled: all are listed when each is, and what nobody wants is not kept.
func TestFilled(t *testing.T) {
	var f filled
	a, b := new(watch.Wanted), new(watch.Wanted)
	failure := errors.New("busy")
	for _, step := range []struct {
		told    *watch.Wanted
		err     error
		want    bool
		wantErr error
	}{{told: a}, {told: b, err: failure, wantErr: failure}, {told: b, want: true}} {
		f.note(step.told, step.err)
		if got, err := f.all([]*watch.Wanted{a, b}); got != step.want || !errors.Is(err, step.wantErr) {
			t.Errorf("all: %t, %v; want %t, %v", got, err, step.want, step.wantErr)
		}
	}
	if all, err := f.all(nil); !all || err != nil {
		t.Error("where nothing is wanted, something is missing")
	}
}
