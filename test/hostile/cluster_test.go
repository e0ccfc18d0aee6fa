package hostile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// Tests ask the API server themselves: a kubectl for each question would take more of
// the machine than most attacks do.

// adminConfig returns a configuration of the administrator. Its answers are not compressed, which takes an API server
// on the same machine more time than the bytes.
func adminConfig() *rest.Config {
	config := cluster.Config()
	config.DisableCompression = true
	return config
}

// resources are those of one name of Kubernetes' core, in a namespace or in none.
func resources(t *testing.T, namespace, resource string) dynamic.ResourceInterface {
	t.Helper()
	return ofGroup(t, "", namespace, resource)
}

// ofGroup are resources of version v1 of a group, in a namespace or, where it is empty, in none.
func ofGroup(t *testing.T, group, namespace, resource string) dynamic.ResourceInterface {
	t.Helper()
	clients, err := dynamic.NewForConfig(adminConfig())
	if err != nil {
		t.Fatal(err)
	}
	all := clients.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource})
	if namespace == "" {
		return all
	}
	return all.Namespace(namespace)
}

// coreClient returns a client of Kubernetes' core. It speaks Protobuf: to write and read large objects as JSON takes the API
// server and the tests several times as long.
func coreClient(t *testing.T) corev1client.CoreV1Interface {
	t.Helper()
	config := adminConfig()
	config.ContentType = runtime.ContentTypeProtobuf
	clients, err := corev1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

// configMaps are those of a namespace.
func configMaps(t *testing.T, namespace string) corev1client.ConfigMapInterface {
	t.Helper()
	return coreClient(t).ConfigMaps(namespace)
}

// declared are the GraphViews of a namespace, or, where it is empty, all ReferenceRules.
func declared(namespace string) (dynamic.ResourceInterface, error) {
	clients, err := dynamic.NewForConfig(adminConfig())
	if err != nil {
		return nil, err
	}
	resource := schema.GroupVersionResource{Group: "graphview.dev", Version: "v1alpha1", Resource: "graphviews"}
	if namespace == "" {
		resource.Resource = "referencerules"
		return clients.Resource(resource), nil
	}
	return clients.Resource(resource).Namespace(namespace), nil
}

func declaredT(t *testing.T, namespace string) dynamic.ResourceInterface {
	t.Helper()
	all, err := declared(namespace)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tryApply applies GraphViews and ReferenceRules, some at a time, as kubectl apply
// --server-side does, which leaves no annotation of all that.
func tryApply(ctx context.Context, manifest string) error {
	objects, err := env.Objects(manifest)
	if err != nil {
		return err
	}
	force, errs := true, make([]error, len(objects))
	inParallel(8, len(objects), func(i int) {
		o := objects[i]
		text, err := json.Marshal(o.Object)
		if err != nil {
			errs[i] = err
			return
		}
		all, err := declared(o.GetNamespace())
		if err == nil {
			_, err = all.Patch(ctx, o.GetName(), types.ApplyPatchType, text, metav1.PatchOptions{
				FieldManager: "hostile", Force: &force, FieldValidation: metav1.FieldValidationStrict,
			})
		}
		errs[i] = err
	})
	return errors.Join(errs...)
}

// apply is tryApply for what has to be accepted.
func apply(t *testing.T, manifest string) {
	t.Helper()
	if err := tryApply(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
}

// said is what the status of an object says of a type of condition: "True Ready …".
func said(o *unstructured.Unstructured, kind string) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return fmt.Sprint(c["status"], " ", c["reason"], " ", c["message"])
		}
	}
	return ""
}

// condition is what a GraphView's status says of a type of condition.
func condition(t *testing.T, namespace, name, kind string) string {
	t.Helper()
	o, err := declaredT(t, namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return said(o, kind)
}

// status is a GraphView's.
func status(t *testing.T, namespace, name string) map[string]any {
	t.Helper()
	o, err := declaredT(t, namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fields, _, _ := unstructured.NestedMap(o.Object, "status")
	return fields
}

// wantReady waits until a GraphView is ready, or, where none is named, all of the
// namespace are.
func wantReady(t *testing.T, namespace string, names ...string) {
	t.Helper()
	options := metav1.ListOptions{}
	if len(names) > 0 {
		options.FieldSelector = "metadata.name=" + names[0]
	}
	views := declaredT(t, namespace)
	fixture.Eventually(t, 5*time.Minute, 100*time.Millisecond, func() string {
		all, err := views.List(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Items) == 0 {
			return fmt.Sprintf("no GraphView %v", names)
		}
		for _, o := range all.Items {
			if ready := said(&o, "Ready"); !strings.HasPrefix(ready, "True ") {
				return fmt.Sprintf("%s: Ready is %q, Accepted %q", o.GetName(), ready, said(&o, "Accepted"))
			}
		}
		return ""
	})
}

// deleteViews deletes all GraphViews of a namespace, and returns when they are gone.
func deleteViews(t *testing.T, namespace string) {
	t.Helper()
	views := declaredT(t, namespace)
	if err := views.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Error(err)
		return
	}
	eventually(t, func() string {
		left, err := views.List(t.Context(), metav1.ListOptions{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(left.Items) > 0 {
			return left.Items[0].GetName() + " is still there"
		}
		return ""
	})
}

func makeConfigMap(t *testing.T, namespace, name string, labels, data map[string]string) {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: data}
	if _, err := configMaps(t, namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// clearConfigMaps deletes those of a namespace that a label selector selects, in one
// request.
func clearConfigMaps(t *testing.T, namespace, selector string) {
	t.Helper()
	if err := configMaps(t, namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: selector}); err != nil {
		t.Error(err)
	}
}

// fill makes ConfigMaps of a size.
func fill(t *testing.T, namespace string, n, size int) {
	t.Helper()
	// Not all alike, lest they compress to nothing.
	fillWith(t, namespace, n, func(i int) string { return strings.Repeat(fmt.Sprintf("%06d.", i*7919), size/7) })
}

// fillWith is fill with another text in each ConfigMap.
func fillWith(t *testing.T, namespace string, n int, text func(i int) string) {
	t.Helper()
	inParallel(8, n, func(i int) {
		makeConfigMap(t, namespace, fmt.Sprintf("c%d", i), nil, map[string]string{"text": text(i)})
	})
}

// change changes each of the ConfigMaps that fill made, to a value.
func change(t *testing.T, namespace, value string, n int) {
	t.Helper()
	all := configMaps(t, namespace)
	inParallel(8, n, func(i int) {
		patch := fmt.Appendf(nil, `{"data":{"changed":%q}}`, value)
		if _, err := all.Patch(t.Context(), fmt.Sprintf("c%d", i), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	})
}
