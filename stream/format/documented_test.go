package format

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGraphMLIsDocumented: docs/clients.md has the attributes of vertices and of arcs, and no others.
func TestGraphMLIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`GraphML's attributes are ([^;]*) of vertices;([^.]*) of arcs\.`).FindStringSubmatch(string(page))
	if said == nil {
		t.Fatal("the page does not list the attributes")
	}
	for i, of := range []string{"node", "edge"} {
		var documented, written []string
		for _, name := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(said[1+i], -1) {
			documented = append(documented, name[1])
		}
		for _, key := range graphMLKeys {
			if key.of == of {
				written = append(written, key.name)
			}
		}
		slices.Sort(documented)
		slices.Sort(written)
		if diff := cmp.Diff(written, documented); diff != "" {
			t.Errorf("%s: -written +documented:\n%s", of, diff)
		}
	}
}
