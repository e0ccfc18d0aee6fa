package graphview

import (
	"testing"
	"time"
)

func TestHorizon(t *testing.T) {
	var h horizon
	start := time.Now()
	for minute := range 60 {
		if old := h.pass(start.Add(time.Duration(minute)*time.Minute), uint64(100+minute)); old != 0 {
			t.Fatalf("after %d minutes, what is before %d was forgotten", minute, old)
		}
	}
	if len(h.marks) > 12 {
		t.Errorf("%d marks in an hour", len(h.marks))
	}
	if old := h.pass(start.Add(time.Hour), 160); old != 100 {
		t.Errorf("after an hour, what is before %d was forgotten, want 100", old)
	}
	if old := h.pass(start.Add(66*time.Minute), 166); old != 105 {
		t.Errorf("after 66 minutes, what is before %d was forgotten, want 105", old)
	}
}
