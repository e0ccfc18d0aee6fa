package plugin

import (
	"strings"
	"testing"
)

// TestUnserved checks the messages for a cluster that does not serve graphs, for now or at
// all.
func TestUnserved(t *testing.T) {
	t.Run("the operator is down", func(t *testing.T) {
		manager.Kill()
		_, stderr, code := shellOf(t, "admin").run(t, "tree", "storefront", "--wait=1s")
		if err := manager.Restart(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"does not reach the operator", "kubectl describe apiservice v1alpha1.stream.graphview.dev", "\nTry: kubectl graphview -n plugin-shop tree --wait=1s --local\n"} {
			if code != 1 || !strings.Contains(stderr, want) {
				t.Errorf("exit code %d, no %q in %s", code, want, stderr)
			}
		}
		eventually(t, func() string {
			if _, stderr, code := shellOf(t, "admin").run(t, "tree", "storefront"); code != 0 {
				return stderr
			}
			return ""
		})
	})

	t.Run("there is no APIService", func(t *testing.T) {
		kubectl(t, "delete", "apiservice", "v1alpha1.stream.graphview.dev")
		defer func() {
			if err := manager.Register(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		var said string
		eventually(t, func() string { // the API server takes a moment to notice
			_, stderr, code := shellOf(t, "admin").run(t, "tree", "storefront", "--wait=1s")
			if code != 1 || !strings.Contains(stderr, "serves no graphs") {
				return stderr
			}
			said = stderr
			return ""
		})
		if want := "docs/install.md"; !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
		if stdout, stderr, code := shellOf(t, "admin").run(t, "check", "--pre"); code != 0 || !strings.Contains(stdout, "ok    no operator is installed\n") {
			t.Errorf("check: exit code %d, %s%s", code, stdout, stderr)
		}
	})
}
