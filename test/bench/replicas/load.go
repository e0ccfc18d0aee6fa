package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"graphview.dev/test/bench/must"
	"graphview.dev/test/env"
)

// creators work at once.
const creators = 24

var graphViews = schema.GroupVersionResource{Group: "graphview.dev", Version: "v1alpha1", Resource: "graphviews"}

func namespaceOf(i int) string { return fmt.Sprintf("team-%03d", i) }

// furnish makes the namespaces and what is in them: pods, each with a ConfigMap.
func (b *bench) furnish(ctx context.Context, plane *env.ControlPlane) {
	config := plane.Config()
	config.ContentType = runtime.ContentTypeProtobuf
	client := must.Get(kubernetes.NewForConfig(config))
	for i := range b.namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceOf(i)}}
		must.Get(client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}))
	}
	group, creating := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	began := time.Now()
	for i := range b.objects / 2 {
		if i%5000 == 4999 {
			fmt.Fprintf(os.Stderr, "%d objects after %.0f s\n", 2*i, time.Since(began).Seconds())
		}
		group.Go(func() error {
			namespace, name := namespaceOf(i%b.namespaces), fmt.Sprintf("web-%05d", i)
			meta := metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{
				"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": fmt.Sprint("web-", i%50), "pod-template-hash": fmt.Sprintf("%08x", i*2654435761),
			}}
			config := &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"colour": fmt.Sprint("red ", i), "size": "large"}}
			if _, err := client.CoreV1().ConfigMaps(namespace).Create(creating, config, metav1.CreateOptions{}); err != nil {
				return err
			}
			pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "main", Image: "example.com/web:1.2.3",
				EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}},
			}}}}
			_, err := client.CoreV1().Pods(namespace).Create(creating, pod, metav1.CreateOptions{})
			return err
		})
	}
	must.Do(group.Wait())
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
	group, doing := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := range b.namespaces {
		group.Go(func() error { return do(doing, client.Resource(graphViews).Namespace(namespaceOf(i)), namespaceOf(i)) })
	}
	must.Do(group.Wait())
}
