package chart

import (
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// TestVariantsAreValid: the API server takes what the chart renders, field by
// field, whatever is turned on. Kinds of other projects it does not know.
func TestVariantsAreValid(t *testing.T) {
	namespaces(t, env.ServiceNamespace, "shop")
	for name, values := range variants {
		t.Run(name, func(t *testing.T) {
			var args []string
			for _, value := range values {
				args = append(args, "--set-json", value)
			}
			var text strings.Builder
			kinds := map[string]bool{}
			for _, object := range objects(t, "{}", args...) {
				group := object.GroupVersionKind().Group
				if group == "monitoring.coreos.com" || group == "cert-manager.io" || group == "graphview.dev" || group == "gateway.networking.k8s.io" {
					continue
				}
				kinds[object.GetKind()] = true
				one, err := yaml.Marshal(object.Object)
				if err != nil {
					t.Fatal(err)
				}
				text.WriteString("---\n" + string(one))
			}
			if name == "everything on" && !kinds["NetworkPolicy"] {
				t.Error("there is no NetworkPolicy")
			}
			fixture.Apply(t, plane, text.String(), client.DryRunAll) // which takes no unknown field
		})
	}
	t.Run("config/network-policy", func(t *testing.T) {
		if _, err := plane.Kubectl(t.Context(), "apply", "--server-side", "--dry-run=server", "-k", filepath.Join(root, "config", "network-policy")); err != nil {
			t.Error(err)
		}
	})
}
