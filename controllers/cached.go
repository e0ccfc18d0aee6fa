package controllers

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
)

// maxCachedSpec is the size in bytes, as JSON, up to which the cache keeps the spec of a GraphView. Most
// have less than 2 KiB.
const maxCachedSpec = 4 << 10

// unreadSpec is the annotation, in the cache alone, of a GraphView whose spec the cache does not keep.
const unreadSpec = "graphview.dev/unread-spec"

// CacheOptions returns the options of the manager's cache. It keeps little of each GraphView: its
// author decides how large the object is, and what the cache keeps is charged to no namespace.
func CacheOptions() cache.Options {
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject:         map[client.Object]cache.ByObject{&v1alpha1.GraphView{}: {Transform: reduceView}},
	}
}

// reduceView removes the parts of a GraphView's metadata that no controller reads, and a large spec.
// It is idempotent.
func reduceView(object any) (any, error) {
	view, ok := object.(*v1alpha1.GraphView)
	if !ok {
		return object, nil // a cache.DeletedFinalStateUnknown
	}
	_, unread := view.Annotations[unreadSpec]
	meta := metav1.ObjectMeta{
		Namespace: view.Namespace, Name: view.Name, UID: view.UID, ResourceVersion: view.ResourceVersion, Generation: view.Generation,
		CreationTimestamp: view.CreationTimestamp, DeletionTimestamp: view.DeletionTimestamp,
	}
	if label, ok := view.Labels[PlacementLabel]; ok {
		meta.Labels = map[string]string{PlacementLabel: label}
	}
	spec, err := json.Marshal(&view.Spec)
	if err != nil {
		return nil, fmt.Errorf("size of the spec of GraphView %s/%s: %w", view.Namespace, view.Name, err)
	}
	if unread || len(spec) > maxCachedSpec {
		meta.Annotations = map[string]string{unreadSpec: ""}
		view.Spec = v1alpha1.GraphViewSpec{ServiceAccountName: view.Spec.ServiceAccountName}
	}
	view.ObjectMeta = meta
	return view, nil
}

// get reads a GraphView from the cache, and from the API server if the cache does not keep its spec.
func (r *GraphViewReconciler) get(ctx context.Context, name client.ObjectKey) (*v1alpha1.GraphView, error) {
	view := &v1alpha1.GraphView{}
	err := r.client.Get(ctx, name, view)
	if _, unread := view.Annotations[unreadSpec]; err == nil && unread {
		err = r.reader.Get(ctx, name, view)
	}
	if err != nil {
		return nil, fmt.Errorf("get GraphView: %w", err)
	}
	return view, nil
}
