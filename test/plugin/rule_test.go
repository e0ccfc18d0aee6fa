package plugin

import (
	"strings"
	"testing"

	"graphview.dev/test/fixture"
)

// TestNewRule: the API server takes what rule new writes, of kinds with and without a
// schema that tells references.
func TestNewRule(t *testing.T) {
	for kind, want := range map[string]string{
		"graphviews":  "spec.serviceAccountName",
		"statefulset": "expression: \"[]\"",
		"apiservices": "from: {group: apiregistration.k8s.io, kind: APIService}",
	} {
		t.Run(kind, func(t *testing.T) {
			stdout, stderr, code := shellOf(t, "admin").run(t, "rule", "new", kind)
			if code != 0 || !strings.Contains(stdout, want) {
				t.Fatalf("exit code %d, want %q in:\n%s%s", code, want, stdout, stderr)
			}
			if err := fixture.TryApply(t, cluster, stdout, "--dry-run=server"); err != nil {
				t.Errorf("%v\n%s", err, stdout)
			}
		})
	}
	if _, stderr, code := shellOf(t, "admin").run(t, "rule", "new", "gizmos"); code == 0 || !strings.Contains(stderr, "gizmos") {
		t.Errorf("exit code %d of a kind that there is not: %s", code, stderr)
	}
}
