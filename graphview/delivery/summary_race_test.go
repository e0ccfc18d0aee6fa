package delivery

import (
	"strings"
	"testing"

	"graphview.dev/graphview/graph"
)

// readingObject is an object during whose reading something else happens.
type readingObject struct {
	*fakeObject

	meanwhile func()
}

func (o *readingObject) ReadJSON(read func([]byte) error) error {
	o.meanwhile()
	return o.fakeObject.ReadJSON(read)
}

// TestSummaryThatReturns: a reader makes the summary of a version while another reader already reads the
// next one, whose summary is again that of the version before. The first reader is sent that too.
func TestSummaryThatReturns(t *testing.T) {
	version := func(hash, logged uint64, phase string) *graph.Change {
		return &graph.Change{Node: 1, Hash: hash, Logged: logged, Payload: &fakeObject{json: `{"kind":"Pod","status":{"phase":"` + phase + `"}}`}}
	}
	var s summaries
	read := func(c *graph.Change, known uint64) (text string, has bool) {
		t.Helper()
		made, has, err := s.of(c, known)
		if err != nil {
			t.Fatal(err)
		}
		return string(made), has
	}
	first, _ := read(version(1, 3, "Running"), 0)
	changed, returned := version(2, 5, "Failed"), version(3, 6, "Running")
	changed.Payload = &readingObject{changed.Payload.(*fakeObject), func() {
		if text, has := read(returned, 4); text != first || !has {
			t.Errorf("the other reader, which did not see the change, is sent %s again", text)
		}
	}}
	if text, has := read(changed, 4); !strings.Contains(text, "Failed") || has {
		t.Fatalf("the slow reader gets %s, known already: %v", text, has)
	}
	if text, has := read(returned, 5); text != first || has {
		t.Errorf("the slow reader gets %s, known already: %v; want %s, which it does not know", text, has, first)
	}
}
