package main

import (
	"slices"
	"testing"
	"time"
)

func TestBehind(t *testing.T) {
	began := time.Now()
	a := listen(1, `"j":["`)
	a.expect(1, 100)
	// Number 9 stays in the objects that the first listener reads again with the boundary of 30.
	for at, b := range []struct {
		listener, newest int
		message          string
	}{
		{0, 0, `{"actions":[{"j":["10"]}],"rev":"a"}`},
		{1, 0, `{"actions":[{"j":["10"]}],"rev":"a"}`},
		{0, 10, `{"actions":[{"j":["20"]}]}`}, // a part of what follows
		{0, 20, `{"actions":[{"j":["30"]},{"j":["9"]}],"rev":"c"}`},
		{2, 0, `{"actions":[{"j":["20"]}],"rev":"b"}`},
		{0, 30, `{"actions":[{"j":["40"]}],"rev":"d"}`},
		{1, 10, `{"actions":[{"j":["40"]}],"rev":"d"}`},
		{2, 20, `{"actions":[{"j":["101"]}],"rev":"e"}`}, // not expected
	} {
		a.record([]byte(b.message), b.listener, b.newest, began.Add(time.Duration(at)))
	}
	// In the order of arrival: listener 1 lacks the boundary 10, 2 lacks 10, 20 and 30, and 1 lacks 20, 30 and 40.
	behind, boundaries := a.behind()
	if want := []int{0, 0, 0, 1, 3, 3}; !slices.Equal(behind, want) || boundaries != 4 {
		t.Errorf("behind %v of %d boundaries, want %v of 4", behind, boundaries, want)
	}
}
