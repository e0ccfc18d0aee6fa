package main

import (
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"graphview.dev/graphview"
	"graphview.dev/graphview/spec"
	"graphview.dev/test/oracle"
	"graphview.dev/test/workload"
)

// target is a resource of the load, which every measured program lists.
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

// listPath is where a resource is listed.
func (t target) listPath() string {
	if t.Group == "" {
		return path.Join("/api", t.Version, t.Resource)
	}
	return path.Join("/apis", t.Group, t.Version, t.Resource)
}

// viewNamespace is where the GraphViews are.
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
	// sequences shows of each object the number of the change that was made
	// last, so that an action is not 200 bytes long.
	sequences = lens{name: "sequences", path: "{.metadata.annotations." + sequence + "}"}
)

// sequence is the annotation that says which change an object had last.
const sequence = "sequence"

// manifest is the GraphView.
func (l lens) manifest() string {
	var object []string
	if l.only != "" {
		object = append(object, fmt.Sprintf("objectSelectorExpression: %q", l.only))
	}
	if l.path != "" {
		object = append(object, fmt.Sprintf("jsonPath: %q", l.path))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: graphview.dev/v1alpha1\nkind: GraphView\nmetadata: {name: %s, namespace: %s}\nspec:\n  queries:\n", l.name, viewNamespace)
	for _, expression := range []string{
		"group == '' && resource in ['pods', 'services', 'configmaps', 'secrets', 'serviceaccounts', 'nodes']",
		"group == 'apps' && resource in ['deployments', 'replicasets']",
	} {
		fmt.Fprintf(&b, "  - include:\n      resourceSelectorExpression: %q\n", expression)
		if len(object) > 0 {
			fmt.Fprintf(&b, "      object: {%s}\n", strings.Join(object, ", "))
		}
	}
	if l.namespace != "" {
		fmt.Fprintf(&b, "  namespaces: {names: [%s]}\n", l.namespace)
	}
	return b.String()
}

// object is the GraphView as an API object.
func (l lens) object() (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(l.manifest()), &object.Object); err != nil {
		return nil, fmt.Errorf("the view's manifest: %w", err)
	}
	return object, nil
}

// spec is the GraphView's, as the engine takes it.
func (l lens) spec() (spec.Spec, error) {
	view, err := oracle.ParseView([]byte(l.manifest()))
	if err != nil {
		return spec.Spec{}, err
	}
	return workload.Spec(view)
}

// id is the view's name in the engine.
func (l lens) id() graphview.Name { return graphview.Name{Namespace: viewNamespace, Name: l.name} }

// watchPath is where the view's graph is followed.
func (l lens) watchPath() string {
	return fmt.Sprintf("%s/watch/namespaces/%s/graphs/%s", graphsPath, viewNamespace, l.name)
}
