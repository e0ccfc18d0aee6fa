package chart

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// installed are the kinds of the objects of an installation, in the cluster and in namespaces.
var installed = []schema.GroupVersionKind{
	{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Pod"},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

// empty deletes the rest of the last installation: its definitions with their objects, its pods, and its log.
func empty(t *testing.T) {
	t.Helper()
	if err := os.Remove(filepath.Join(plane.Dir(), "logs", "manager.log")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	api := fixture.Client(t, plane.Config())
	eventually(t, func() string {
		left := 0
		for _, kind := range installed {
			objects := &metav1.PartialObjectMetadataList{}
			objects.SetGroupVersionKind(kind)
			if err := api.List(t.Context(), objects); err != nil {
				if meta.IsNoMatchError(err) { // not served
					continue
				}
				return err.Error()
			}
			for i := range objects.Items {
				object := &objects.Items[i]
				if object.Labels["app.kubernetes.io/name"] != "graphview" && (object.Namespace != env.ServiceNamespace || object.Name == "default") {
					continue
				}
				left++
				object.SetGroupVersionKind(kind)
				if err := api.Delete(t.Context(), object); client.IgnoreNotFound(err) != nil {
					return err.Error()
				}
			}
		}
		if left > 0 {
			return fmt.Sprint(left, " objects of an installation are left")
		}
		return ""
	})
}

// namespaces creates namespaces that are not there.
func namespaces(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		fixture.Apply(t, plane, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
	}
}

// applyFile applies the objects in a file.
func applyFile(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fixture.Apply(t, plane, string(text))
}
