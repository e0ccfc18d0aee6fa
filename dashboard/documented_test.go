package dashboard

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestElementIsDocumented: docs/clients.md has the attributes, events and parts of <graph-view>, and no others.
func TestElementIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(text), "\n### The element\n")
	page, _, _ = strings.Cut(page, "\n## ")
	// table returns the names in the first column of a table.
	table := func(head string) (names []string) {
		_, rows, _ := strings.Cut(page, "\n| "+head+" |")
		rows, _, _ = strings.Cut(rows, "\n\n")
		for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(rows, -1) {
			for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(row[1], -1) {
				names = append(names, name[1])
			}
		}
		return names
	}
	var sources strings.Builder
	err = filepath.WalkDir("web", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".js" {
			return err
		}
		source, err := os.ReadFile(path)
		sources.Write(source)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := func(pattern string) (names []string) {
		for _, name := range regexp.MustCompile(pattern).FindAllStringSubmatch(sources.String(), -1) {
			names = append(names, name[1])
		}
		return names
	}
	same := func(what string, is, documented []string) {
		t.Helper()
		slices.Sort(is)
		slices.Sort(documented)
		if diff := cmp.Diff(slices.Compact(is), slices.Compact(documented)); diff != "" || len(is) == 0 {
			t.Errorf("%s: -code +documented:\n%s", what, diff)
		}
	}
	attributes := regexp.MustCompile(`(?m)^const attributes = \[(.*)\];$`).FindStringSubmatch(sources.String())
	if attributes == nil {
		t.Fatal("the element has no list of attributes")
	}
	same("attributes", strings.Split(strings.ReplaceAll(attributes[1], `"`, ""), ", "), table("attribute"))
	same("events", found(`#host\.dispatchEvent\(new CustomEvent\("([a-z]+)"`), table("event"))
	var parts []string
	said := regexp.MustCompile("Parts for `::part`: ([^.]*)\\.").FindStringSubmatch(page)
	if said == nil {
		t.Fatal("the page has no parts")
	}
	for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(said[1], -1) {
		parts = append(parts, name[1])
	}
	same("parts", found(`\bpart: "([a-z]+)"`), parts)
	same("properties", slices.Concat(found(`(?m)^  set ([a-z]+)\(`), []string{"view"}), slices.DeleteFunc(table("property"), func(name string) bool {
		return slices.Contains(table("attribute"), name) && name != "view"
	}))
}

// TestKeysAreDocumented: docs/dashboard.md has each key of the page, and no other.
func TestKeysAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "dashboard.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join("web", "view", "keys.js"))
	if err != nil {
		t.Fatal(err)
	}
	// The same keys without Shift, on keyboards where + and - need it.
	alias := map[string]bool{"=": true, "_": true}
	name := map[string]string{" ": "Space", "Escape": "Esc"}
	var known, documented []string
	for _, key := range regexp.MustCompile(`case "([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		switch said := name[key[1]]; {
		case alias[key[1]]:
		case said != "":
			known = append(known, said)
		case len(key[1]) == 1:
			known = append(known, strings.ToUpper(key[1]))
		default:
			known = append(known, key[1])
		}
	}
	_, table, _ := strings.Cut(string(text), "\n| key | does |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		keys, _, _ := strings.Cut(row, " | ")
		for _, key := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(keys, -1) {
			documented = append(documented, key[1])
		}
	}
	if strings.Contains(string(text), "\n- `Space` on the map pauses") {
		documented = append(documented, "Space")
	}
	documented = slices.DeleteFunc(documented, func(key string) bool { return strings.HasPrefix(key, "Shift+") })
	if slices.Contains(documented, "1") && slices.Contains(documented, "5") { // `1` to `5`
		documented = append(documented, "2", "3", "4")
	}
	slices.Sort(known)
	slices.Sort(documented)
	if diff := cmp.Diff(slices.Compact(known), slices.Compact(documented)); diff != "" || len(known) < 20 {
		t.Errorf("-known +documented:\n%s", diff)
	}
}
