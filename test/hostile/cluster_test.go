package hostile

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// configMaps are those of a namespace.
func configMaps(t *testing.T, namespace string) dynamic.ResourceInterface {
	t.Helper()
	return resources(t, namespace, "configmaps")
}

// resources are those of one name of Kubernetes' core, in a namespace.
func resources(t *testing.T, namespace, resource string) dynamic.ResourceInterface {
	t.Helper()
	clients, err := dynamic.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	return clients.Resource(schema.GroupVersionResource{Version: "v1", Resource: resource}).Namespace(namespace)
}

func makeConfigMap(t *testing.T, namespace, name string, labels map[string]string, data map[string]any) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data}}
	object.SetName(name)
	object.SetLabels(labels)
	if _, err := configMaps(t, namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// clearConfigMaps deletes those of a namespace that a label selector selects, in one
// request: kubectl sends one for each, some a second.
func clearConfigMaps(t *testing.T, namespace, selector string) {
	t.Helper()
	if err := configMaps(t, namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: selector}); err != nil {
		t.Error(err)
	}
}

// fill makes ConfigMaps of a size.
func fill(t *testing.T, namespace string, n, size int) {
	t.Helper()
	inParallel(8, n, func(i int) {
		// Not all alike, lest they compress to nothing.
		text := strings.Repeat(fmt.Sprintf("%06d.", i*7919), size/7)
		makeConfigMap(t, namespace, fmt.Sprintf("c%d", i), nil, map[string]any{"text": text})
	})
}

// change changes each of the ConfigMaps that fill made.
func change(t *testing.T, namespace string, n int) {
	t.Helper()
	all := configMaps(t, namespace)
	inParallel(8, n, func(i int) {
		patch := []byte(`{"data":{"changed":"yes"}}`)
		if _, err := all.Patch(t.Context(), fmt.Sprintf("c%d", i), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	})
}
