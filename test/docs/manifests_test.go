package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

var manifest = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// TestManifests: every whole GraphView and ReferenceRule in the documentation
// passes the schema and the webhook.
func TestManifests(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	fixture.Kubectl(t, cluster, "wait", "--for=condition=Available", "apiservice/v1alpha1.stream.graphview.dev", fixture.Timeout())
	found := 0
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range manifest.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(match[1], "apiVersion: graphview.dev/") || !strings.Contains(match[1], "metadata:") {
				continue
			}
			found++
			flags := []string{"--dry-run=server"}
			if !strings.Contains(match[1], "namespace:") {
				flags = append(flags, "--namespace=shop")
			}
			if err := fixture.TryApply(t, cluster, match[1], flags...); err != nil {
				t.Errorf("%s: %v\n%s", filepath.Base(page), err, match[1])
			}
		}
	}
	if found < 2 {
		t.Errorf("%d manifests", found)
	}
}
