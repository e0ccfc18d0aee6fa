package ci

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestChoices: in the table of docs/install.md, bold values are the defaults of the chart, every value of the chart exists, and
// so does every folder.
func TestChoices(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "install.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "charts", "graphview", "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| decision | choices | take it if | chart | kustomize |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	defaults, folders := 0, 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		if len(cells) < 5 {
			continue
		}
		for _, said := range regexp.MustCompile("`([a-zA-Z.]+): ([a-zA-Z0-9-]+)`").FindAllStringSubmatch(cells[3], -1) {
			at, known := any(values), true
			for name := range strings.SplitSeq(said[1], ".") {
				in, _ := at.(map[string]any)
				if at, known = in[name]; !known {
					t.Errorf("the chart has no value %s", said[1])
					break
				}
			}
			isDefault := strings.HasPrefix(cells[1], "**")
			if known && (fmt.Sprint(at) == said[2]) != isDefault && !(said[1] == "certificates.source" && strings.Contains(cells[0], "webhook")) {
				t.Errorf("the default of %s is %v: %s", said[1], at, row)
			}
			if isDefault {
				defaults++
			}
		}
		for _, folder := range regexp.MustCompile("`(config/[a-z/-]+)`").FindAllStringSubmatch(row, -1) {
			folders++
			if _, err := os.Stat(filepath.Join(root, folder[1], "kustomization.yaml")); err != nil {
				t.Errorf("%s: %v", folder[1], err)
			}
		}
	}
	if defaults < 7 || folders < 6 {
		t.Errorf("the table has %d defaults and %d folders", defaults, folders)
	}
}
