package v1alpha1

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// members returns the names of the members of a message, sorted.
func members(message any) (names []string) {
	for field := range reflect.TypeOf(message).Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestSummariesAreDocumented: docs/stream.md has each member of a summary, and no other.
func TestSummariesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "stream.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| member | is | absent |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		documented = append(documented, strings.Trim(cells[0], "| `"))
		of := map[string]any{"del": DeletionFacts{}, "x": RemoteReference{}}[documented[len(documented)-1]]
		if of == nil {
			continue
		}
		for _, name := range members(of) {
			if !regexp.MustCompile("`" + name + "`").MatchString(cells[1]) {
				t.Errorf("the row of %s lacks %s: %s", documented[len(documented)-1], name, line)
			}
		}
	}
	slices.Sort(documented)
	if diff := cmp.Diff(members(Summary{}), documented); diff != "" {
		t.Errorf("members of a summary: -sent +documented:\n%s", diff)
	}
}
