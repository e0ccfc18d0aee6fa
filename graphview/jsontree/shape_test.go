package jsontree

import (
	"slices"
	"testing"
)

// TestOthers: Others asks for members that no Field names, by their names and the first byte of their values,
// and Members tells which shape asked for each.
func TestOthers(t *testing.T) {
	var text Shape
	shape := &Shape{}
	shape.Field("named")
	shape.Others(func(name []byte, first byte) *Shape {
		if first == '"' && string(name) != "refused" {
			return &text
		}
		return nil
	})
	value, err := Parse([]byte(`{"named": "a", "other": "b", "refused": "c", "number": 1, "last": "d"}`), shape)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for by, member := range value.Members {
		if said, _ := member.Text(); by == &text {
			got = append(got, string(said))
		}
	}
	if want := []string{"b", "d"}; !slices.Equal(got, want) {
		t.Errorf("members %q, want %q", got, want)
	}
	if named, _ := value.Member("named").Text(); string(named) != "a" {
		t.Errorf("the named member is %q", named)
	}
}
