package controllers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
)

// TestCachedViewIsSmall: the cache keeps some KiB of a GraphView, whatever its author wrote into it.
func TestCachedViewIsSmall(t *testing.T) {
	const large = 1 << 20
	text := strings.Repeat("x", large)
	for name, change := range map[string]func(*v1alpha1.GraphView){
		"annotations": func(v *v1alpha1.GraphView) { v.Annotations = map[string]string{"a": text} },
		"labels":      func(v *v1alpha1.GraphView) { v.Labels = map[string]string{"a": text} },
		"owners":      func(v *v1alpha1.GraphView) { v.OwnerReferences = []metav1.OwnerReference{{Name: text}} },
		"finalizers":  func(v *v1alpha1.GraphView) { v.Finalizers = []string{text} },
		"managers":    func(v *v1alpha1.GraphView) { v.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: text}} },
		"expressions": func(v *v1alpha1.GraphView) { v.Spec.Queries[0].Include.ResourceSelectorExpression = text },
		"namespaces": func(v *v1alpha1.GraphView) {
			v.Spec.Namespaces = &v1alpha1.Namespaces{Names: []v1alpha1.NamespaceName{v1alpha1.NamespaceName(text)}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			view := &v1alpha1.GraphView{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "all", UID: "u", ResourceVersion: "7", Generation: 3},
				Spec: v1alpha1.GraphViewSpec{
					ServiceAccountName: "viewer", Queries: []v1alpha1.Query{{Include: &v1alpha1.Include{ResourceSelectorExpression: "true"}}},
				},
				Status: v1alpha1.GraphViewStatus{Vertices: 5},
			}
			whole := view.DeepCopy()
			change(view)
			unread := name == "expressions" || name == "namespaces"
			for range 2 { // the cache may transform an object twice
				if _, err := reduce(view); err != nil {
					t.Fatal(err)
				}
			}
			if kept, err := json.Marshal(view); err != nil || len(kept) > maxCachedSpec {
				t.Errorf("%d bytes are kept (%v)", len(kept), err)
			}
			if unread {
				whole.Spec.Queries = nil
				whole.Annotations = map[string]string{unreadSpec: ""}
			}
			if diff := cmp.Diff(client.Object(whole), client.Object(view)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCachedMetadataIsSmall: so is what the cache keeps of an object whose metadata alone is watched.
func TestCachedMetadataIsSmall(t *testing.T) {
	account := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "viewer", UID: "u", ResourceVersion: "7", Annotations: map[string]string{"a": strings.Repeat("x", 1<<20)},
	}}
	if _, err := reduce(account); err != nil {
		t.Fatal(err)
	}
	want := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "viewer", UID: "u", ResourceVersion: "7"}}
	if diff := cmp.Diff(want, account); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
