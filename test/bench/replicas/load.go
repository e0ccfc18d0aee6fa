package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"graphview.dev/test/bench/load"
	"graphview.dev/test/env"
	"graphview.dev/test/must"
)

var graphViews = schema.GroupVersionResource{Group: "graphview.dev", Version: "v1alpha1", Resource: "graphviews"}

func namespaceOf(i int) string { return fmt.Sprintf("team-%03d", i) }

// pair is a pod with its ConfigMap.
var pair = load.Parse(`apiVersion: v1
kind: ConfigMap
metadata:
  namespace: {{.namespace}}
  name: {{.name}}
  labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: {{.instance}}, pod-template-hash: "{{.hash}}"}
data: {colour: red {{.name}}, size: large}
---
apiVersion: v1
kind: Pod
metadata:
  namespace: {{.namespace}}
  name: {{.name}}
  labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: {{.instance}}, pod-template-hash: "{{.hash}}"}
spec: {containers: [{name: main, image: "example.com/web:1.2.3", envFrom: [{configMapRef: {name: {{.name}}}}]}]}
`)

// furnish makes the namespaces and what is in them.
func (b *bench) furnish(ctx context.Context, plane *env.ControlPlane) {
	m, namespace := must.Get(load.NewMaker(plane.Config())), load.Parse("{apiVersion: v1, kind: Namespace, metadata: {name: {{.}}}}")
	must.Do(load.Each(ctx, b.namespaces, func(ctx context.Context, i int) error {
		return m.Create(ctx, namespace, namespaceOf(i), load.NewScope(i))
	}))
	must.Do(load.Each(ctx, b.objects/2, func(ctx context.Context, i int) error {
		return m.Create(ctx, pair, map[string]string{
			"namespace": namespaceOf(i % b.namespaces), "name": fmt.Sprintf("web-%05d", i), "instance": fmt.Sprint("web-", i%50), "hash": fmt.Sprintf("%08x", i*2654435761),
		}, load.NewScope(i))
	}))
}

// declare declares a view of each namespace.
func (b *bench) declare(ctx context.Context) {
	b.each(ctx, func(ctx context.Context, views dynamic.ResourceInterface, namespace string) error {
		_, err := views.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "graphview.dev/v1alpha1", "kind": "GraphView", "metadata": map[string]any{"name": "own"},
			"spec": map[string]any{
				"queries":    []any{map[string]any{"include": map[string]any{"resourceSelectorExpression": "group == '' && resource in ['pods', 'configmaps']", "object": map[string]any{"jsonPath": "{.metadata.labels}{.metadata.annotations}"}}}},
				"namespaces": map[string]any{"names": []any{namespace}},
			},
		}}, metav1.CreateOptions{})
		return err
	})
}

// remove takes the views away.
func (b *bench) remove(ctx context.Context) {
	b.each(ctx, func(ctx context.Context, views dynamic.ResourceInterface, _ string) error {
		return views.Delete(ctx, "own", metav1.DeleteOptions{})
	})
}

func (b *bench) each(ctx context.Context, do func(context.Context, dynamic.ResourceInterface, string) error) {
	client := must.Get(dynamic.NewForConfig(b.plane.Config()))
	must.Do(load.Each(ctx, b.namespaces, func(ctx context.Context, i int) error {
		return do(ctx, client.Resource(graphViews).Namespace(namespaceOf(i)), namespaceOf(i))
	}))
}
