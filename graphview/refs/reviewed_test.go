package refs

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/graph"
)

// TestReviewed compares the rules with references that were judged by hand. Each set counts by the kind of fault.
func TestReviewed(t *testing.T) {
	text, err := os.ReadFile("testdata/reviewed.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var objects []struct {
		Set, Fault, Says, Schema string
		Served, Want, Not        []string
		Missed                   bool // the reference is known to be missed
		Only                     bool // nothing else is referred to; the lines of Want have no field
		Object                   json.RawMessage
	}
	if err := yaml.UnmarshalStrict(text, &objects); err != nil {
		t.Fatal(err)
	}
	right, all := map[string]int{}, map[string]int{}
	for _, o := range objects {
		kind, object := decode(t, o.Object)
		served := servedBy(o.Served...)
		x := Builtin().Serving(served)
		if o.Schema != "" {
			reading, err := served.Read(kind, schemaOf(t, o.Schema))
			if err != nil {
				t.Fatal(err)
			}
			x = x.Reading(map[graph.Kind]*Reading{kind: reading})
		}
		var got []string
		failed := false
		for _, ref := range x.Extract(kind, object) {
			line := strings.Replace(renderOne(&ref), "?/", "/", 1) // whatever the scope
			if o.Only {
				line = strings.Join(strings.Fields(line)[1:3], " ")
				failed = failed || !ref.Inferred && !slices.Contains(o.Want, line) // an inferred one needs an object of that name
			}
			flag := " required"
			if ref.Optional || ref.Inferred {
				flag = " optional"
			}
			got = append(got, line, line+flag)
		}
		count := fmt.Sprintf("%-8s %s", o.Set, o.Fault)
		all[count]++
		for _, want := range o.Want {
			failed = failed || !slices.Contains(got, want)
		}
		for _, not := range o.Not {
			failed = failed || slices.Contains(got, not)
		}
		if failed != o.Missed {
			t.Errorf("%s %s: %s\ngot  %q\nwant %q\nnot  %q", o.Set, o.Fault, o.Says, got, o.Want, o.Not)
		}
		if !failed {
			right[count]++
		}
	}
	for _, count := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%s: %d of %d", count, right[count], all[count])
	}
}
