package health

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// judgedAt is the time at which the objects of testdata/judged.yaml were judged.
var judgedAt = time.Date(2026, 11, 28, 22, 30, 53, 0, time.UTC)

// TestJudged compares the rules with objects that were judged by hand. Each set counts by the kind of fault.
func TestJudged(t *testing.T) {
	text, err := os.ReadFile("testdata/judged.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var objects []struct {
		Set, Fault, Kind, Says string
		Want                   []State
		Known                  State     // what the rules say instead, if the difference is known
		Since                  time.Time // when the object was first seen so, judgedAt if it is zero
		Object                 json.RawMessage
	}
	if err := yaml.UnmarshalStrict(text, &objects); err != nil {
		t.Fatal(err)
	}
	right, all := map[string]int{}, map[string]int{}
	for _, o := range objects {
		kind, group, _ := strings.Cut(o.Kind, ".")
		first := judgedAt
		if !o.Since.IsZero() {
			first = o.Since
		}
		h := judge(t, Kind{group, kind}, o.Object).WithDeadlineFrom(first.Unix()).At(judgedAt)
		count := fmt.Sprintf("%-8s %s", o.Set, o.Fault)
		all[count]++
		switch {
		case slices.Contains(o.Want, h.State):
			right[count]++
			if o.Known != "" {
				t.Errorf("%s %s is right: it is no known difference any more", o.Kind, o.Says)
			}
		case h.State != o.Known:
			t.Errorf("%s %s: %s %s: %s (%s), want %s", o.Set, o.Fault, o.Kind, o.Says, h.State, h.Reason, o.Want)
		}
	}
	for _, count := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%s: %d of %d", count, right[count], all[count])
	}
}
