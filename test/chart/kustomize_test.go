package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"graphview.dev/test/env"
)

// TestSameAsKustomize: with no value given but view.enabled the chart is config/default, but for
// labels, for how the image is named, and for the namespace, which Helm makes
// itself.
func TestSameAsKustomize(t *testing.T) {
	text, err := plane.Kubectl(t.Context(), "kustomize", filepath.Join(root, "config", "default"))
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := env.Objects(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(comparables(t, shipped), comparables(t, objects(t, "{}"))); diff != "" {
		t.Errorf("-config/default +chart:\n%s", diff)
	}
}

// TestVariantsAreTheSameAsKustomize: the roles of the chart's variants are those of
// the components of config.
func TestVariantsAreTheSameAsKustomize(t *testing.T) {
	for name, test := range map[string]struct{ values, overlay string }{
		"without Secrets":  {"rbac: {secrets: false}", "resources: [%[1]s/default]\ncomponents: [%[1]s/components/without-secrets]\n"},
		"with the webhook": {"webhook: {enabled: true, certificates: self-signed}", "resources: [%[1]s/with-webhook]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			config, err := filepath.Rel(dir, filepath.Join(root, "config"))
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+test.overlay, config)
			if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			built, err := plane.Kubectl(t.Context(), "kustomize", dir)
			if err != nil {
				t.Fatal(err)
			}
			shipped, err := env.Objects(string(built))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(comparables(t, shipped), comparables(t, objects(t, test.values))); diff != "" {
				t.Errorf("-config +chart:\n%s", diff)
			}
		})
	}
}

// comparables leaves out what may differ.
func comparables(t *testing.T, all []*unstructured.Unstructured) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, object := range all {
		if object.GetKind() == "Namespace" {
			continue
		}
		object.SetLabels(nil)
		annotations := object.GetAnnotations()
		delete(annotations, "helm.sh/resource-policy")
		object.SetAnnotations(annotations)
		if object.GetKind() == "Deployment" {
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			container := containers[0].(map[string]any)
			delete(container, "image")
			delete(container, "imagePullPolicy")
			// Flags that the chart sets to their default, and config does not set.
			var args []any
			for _, arg := range container["args"].([]any) {
				if !defaults[arg] {
					args = append(args, arg)
				}
			}
			container["args"] = args
			if err := unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers"); err != nil {
				t.Fatal(err)
			}
		}
		out[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = object.Object
	}
	return out
}

// defaults are flags that say what the operator does without them.
var defaults = map[any]bool{
	"--permission-recheck=60s": true, "--sync-timeout=30s": true, "--max-vertices-per-view=200000": true, "--zap-log-level=info": true,
}
