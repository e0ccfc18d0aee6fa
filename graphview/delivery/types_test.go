package delivery

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTypesAreKnown: the types of warnings are the same here, in the messages of the protocol and in
// the table of docs/graphview.md.
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
	const constant = `(?m)^\t[A-Z]\w+ += "([A-Z]+(?:_[A-Z]+)+)"$`
	want := found("warning.go", constant)
	if len(want) < 6 {
		t.Fatalf("types %q", want)
	}
	for file, pattern := range map[string]string{
		"../../api/stream/v1alpha1/message.go": constant, "../../docs/graphview.md": "(?m)^\\| `([A-Z]+(?:_[A-Z]+)+)` \\|",
	} {
		if diff := cmp.Diff(want, found(file, pattern)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}
