package v1alpha1

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReasonsAreDocumented: a table of docs has each reason of a condition with its remedy.
func TestReasonsAreDocumented(t *testing.T) {
	for file, page := range map[string]string{
		"graphview_conditions.go": "graphview.md", "referencerule_conditions.go": "references.md", "clusterlink_types.go": "fleet.md",
	} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		reasons := regexp.MustCompile(`(?m)^\tReason\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
		if len(reasons) < 2 {
			t.Errorf("%s has the reasons %q", file, reasons)
		}
		for _, reason := range reasons {
			row := regexp.MustCompile("(?m)^\\|.*`" + reason[1] + "`.*\\|$").FindString(string(text))
			if cells := strings.Split(row, "|"); len(cells) < 4 {
				t.Errorf("docs/%s has no row of %s", page, reason[1])
			}
		}
	}
}
