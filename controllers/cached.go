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

// CacheOptions returns the options of the manager's cache. It keeps little of each object: its author
// decides how large the object is, and no namespace is charged for the memory of the cache.
func CacheOptions() cache.Options { return cache.Options{DefaultTransform: reduce} }

// reduce removes the parts of an object that no controller reads: managed fields, most metadata
// of GraphViews and of objects whose metadata alone is watched, and large specs of GraphViews. It is
// idempotent.
func reduce(object any) (any, error) {
	switch o := object.(type) {
	case *v1alpha1.GraphView:
		return object, reduceView(o)
	case *metav1.PartialObjectMetadata:
		o.ObjectMeta = reducedMeta(&o.ObjectMeta)
		return object, nil
	default:
		return cache.TransformStripManagedFields()(object)
	}
}

// reducedMeta returns the metadata that controllers read.
func reducedMeta(of *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: of.Namespace, Name: of.Name, UID: of.UID, ResourceVersion: of.ResourceVersion, Generation: of.Generation,
		CreationTimestamp: of.CreationTimestamp, DeletionTimestamp: of.DeletionTimestamp,
	}
}

// reduceView is reduce for a GraphView.
func reduceView(view *v1alpha1.GraphView) error {
	unread := isUnread(view)
	view.ObjectMeta = reducedMeta(&view.ObjectMeta)
	spec, err := json.Marshal(&view.Spec)
	if err != nil {
		return fmt.Errorf("size of the spec of GraphView %s/%s: %w", view.Namespace, view.Name, err)
	}
	if unread || len(spec) > maxCachedSpec {
		view.Annotations = map[string]string{unreadSpec: ""}
		view.Spec = v1alpha1.GraphViewSpec{ServiceAccountName: view.Spec.ServiceAccountName}
	}
	return nil
}

// getCached reads a GraphView from the cache, which may lack its spec; see whole. A reconcile reads no
// other: a busy view is reconciled several times a second, and its spec may have a megabyte.
func (r *GraphViewReconciler) getCached(ctx context.Context, name client.ObjectKey) (*v1alpha1.GraphView, error) {
	view := &v1alpha1.GraphView{}
	if err := r.client.Get(ctx, name, view); err != nil {
		return nil, fmt.Errorf("get GraphView from the cache: %w", err)
	}
	return view, nil
}

// whole returns a cached GraphView with its spec, from the API server if the cache does not keep that.
func (r *GraphViewReconciler) whole(ctx context.Context, cached *v1alpha1.GraphView) (*v1alpha1.GraphView, error) {
	if !isUnread(cached) {
		return cached, nil
	}
	view := &v1alpha1.GraphView{}
	if err := r.reader.Get(ctx, client.ObjectKeyFromObject(cached), view); err != nil {
		return nil, fmt.Errorf("get GraphView: %w", err)
	}
	return view, nil
}

// isUnread reports whether a cached GraphView lacks its spec.
func isUnread(cached *v1alpha1.GraphView) bool {
	_, unread := cached.Annotations[unreadSpec]
	return unread
}
