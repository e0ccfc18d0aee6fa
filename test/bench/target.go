package main

import (
	"encoding/json"
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview"
	"graphview.dev/test/must"
	"graphview.dev/test/oracle"
)

// target is a resource of the load. Every measured program lists it.
type target struct {
	schema.GroupVersionResource

	kind string
}

var targets = []target{
	{schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "Pod"},
	{schema.GroupVersionResource{Version: "v1", Resource: "services"}, "Service"},
	{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, "ConfigMap"},
	{schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, "Secret"},
	{schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}, "ServiceAccount"},
	{schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, "Node"},
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, "Deployment"},
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}, "ReplicaSet"},
}

// pods are the first of the targets.
var pods = targets[0]

// listPath returns the path of the resource's list.
func (t target) listPath() string {
	if t.Group == "" {
		return path.Join("/api", t.Version, t.Resource)
	}
	return path.Join("/apis", t.Group, t.Version, t.Resource)
}

// viewNamespace is the namespace of the GraphViews.
const viewNamespace = "default"

var graphViews = schema.GroupVersionResource{Group: "graphview.dev", Version: "v1alpha1", Resource: "graphviews"}

// lens is a view over the targets, in all namespaces.
type lens struct {
	name string
	// namespace, if not empty, is the only one.
	namespace string
	// only, if not empty, is an expression about objects.
	only string
	// path, if not empty, is a jsonPath.
	path string
}

var (
	// whole shows objects as they are.
	whole = lens{name: "bench"}
	// sequences shows the number of the last change of each object, so that an action is
	// shorter than 200 bytes.
	sequences = lens{name: "sequences", path: "{.metadata.annotations." + sequence + "}"}
)

// sequence is the annotation with the number of an object's last change.
const sequence = "sequence"

// view is the spec of the GraphView.
func (l lens) view() oracle.View {
	var v oracle.View
	for _, expression := range []string{
		"group == '' && resource in ['pods', 'services', 'configmaps', 'secrets', 'serviceaccounts', 'nodes']",
		"group == 'apps' && resource in ['deployments', 'replicasets']",
	} {
		v.Queries = append(v.Queries, oracle.Query{Include: &oracle.Include{
			ResourceSelectorExpression: expression, Object: oracle.Filter{ObjectSelectorExpression: l.only, JSONPath: l.path},
		}})
	}
	if l.namespace != "" {
		v.Namespaces = &oracle.Namespaces{Names: []string{l.namespace}}
	}
	return v
}

// object is the GraphView as an API object.
func (l lens) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	must.Do(object.UnmarshalJSON(must.Get(json.Marshal(map[string]any{
		"apiVersion": "graphview.dev/v1alpha1", "kind": "GraphView",
		"metadata": map[string]string{"name": l.name, "namespace": viewNamespace}, "spec": l.view(),
	}))))
	return object
}

// id is the view's name in the engine.
func (l lens) id() graphview.Name { return graphview.Name{Namespace: viewNamespace, Name: l.name} }

// watchPath returns the path of the stream of the view's graph.
func (l lens) watchPath() string {
	return fmt.Sprintf("/apis/stream.graphview.dev/v1alpha1/watch/namespaces/%s/graphs/%s", viewNamespace, l.name)
}
