package replicas

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// TestMetricsAreServed: each metric that docs/operations.md has for replicas that share
// views is served.
func TestMetricsAreServed(t *testing.T) {
	root, err := env.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "With `--view-holders` there are also:\n")
	section, _, _ = strings.Cut(section, "\n\nThere are also")
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	documented := regexp.MustCompile("(?m)^\\| `(graphview_[a-z_]+)").FindAllStringSubmatch(section, -1)
	if len(documented) == 0 {
		t.Fatal("there are no such metrics")
	}
	eventually(t, func() string {
		_, text, err := fixture.Get(t.Context(), http.DefaultClient, edges[0].MetricsURL())
		if err != nil {
			return err.Error()
		}
		for _, match := range documented {
			if !strings.Contains(string(text), "# TYPE "+match[1]+" ") {
				return match[1] + " is not served"
			}
		}
		return ""
	})
}
