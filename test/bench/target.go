package main

import (
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// targets are the resources that everybody lists: those of the load.
var targets = []schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "serviceaccounts"},
	{Version: "v1", Resource: "nodes"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
}

// The view over the targets, in all namespaces.
const (
	viewNamespace = "default"
	viewName      = "bench"
	coreQuery     = "group == '' && resource in ['pods', 'services', 'configmaps', 'secrets', 'serviceaccounts', 'nodes']"
	appsQuery     = "group == 'apps' && resource in ['deployments', 'replicasets']"
	viewManifest  = `apiVersion: graphview.dev/v1alpha1
kind: GraphView
metadata: {name: ` + viewName + `, namespace: ` + viewNamespace + `}
spec:
  queries:
  - include: {resourceSelectorExpression: "` + coreQuery + `"}
  - include: {resourceSelectorExpression: "` + appsQuery + `"}
`
)

var graphViews = schema.GroupVersionResource{Group: "graphview.dev", Version: "v1alpha1", Resource: "graphviews"}

// view is the manifest as an object.
func view() (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(viewManifest), &object.Object); err != nil {
		return nil, fmt.Errorf("the view's manifest: %w", err)
	}
	return object, nil
}

// listPath is where a resource is listed.
func listPath(r schema.GroupVersionResource) string {
	if r.Group == "" {
		return path.Join("/api", r.Version, r.Resource)
	}
	return path.Join("/apis", r.Group, r.Version, r.Resource)
}
