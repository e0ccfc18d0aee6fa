package delivery

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTypesAreKnown: the types of warnings are the same in the messages of the protocol and in the table of
// docs/graphview.md.
func TestTypesAreKnown(t *testing.T) {
	found := func(file, pattern string) []string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var types []string
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			types = append(types, match[1])
		}
		slices.Sort(types)
		return types
	}
	want := found("../../api/stream/v1alpha1/message.go", `(?m)^\t[A-Z]\w+ += "([A-Z]+(?:_[A-Z]+)+)"$`)
	if len(want) < 6 {
		t.Fatalf("types %q", want)
	}
	const file = "../../docs/graphview.md"
	if diff := cmp.Diff(want, found(file, "(?m)^\\| `([A-Z]+(?:_[A-Z]+)+)` \\|")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
