package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"text/template"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"graphview.dev/test/must"
)

// creators is the number of concurrent creations; more only wait for the API server.
const creators = 24

// creator creates the objects of templates.
type creator struct {
	client  dynamic.Interface
	created atomic.Int64
}

// documents parses documents of YAML, each a template with the data of an application.
func documents(text string) (all []*template.Template) {
	for document := range strings.SplitSeq(text, "\n---\n") {
		all = append(all, template.Must(template.New("").Parse(document)))
	}
	return all
}

// createLoad creates all objects.
func createLoad(ctx context.Context, config *rest.Config, s shape) {
	c := &creator{client: must.Get(dynamic.NewForConfig(config))}
	started := time.Now()
	fmt.Fprintf(os.Stderr, "load: %d objects, %s\n", s.objects(), s)
	c.all(ctx, s.nodes(), func(ctx context.Context, i int) {
		c.create(ctx, nodeObject, &application{Name: s.node(i)})
	})
	c.all(ctx, s.namespaces, func(ctx context.Context, i int) {
		c.create(ctx, namespaceObjects, &application{Name: s.namespace(i)})
	})
	c.all(ctx, s.namespaces*s.applications, func(ctx context.Context, i int) {
		a := newApplication(s, i)
		c.create(ctx, applicationObjects, a)
		for pod := range s.pods {
			a.Node = s.node(i*s.pods + pod)
			c.create(ctx, podObject, a)
		}
	})
	fmt.Fprintf(os.Stderr, "load: created after %.0f s\n", time.Since(started).Seconds())
}

// all calls do for the numbers below n, several calls at once, and ends at the first error.
func (c *creator) all(ctx context.Context, n int, do func(context.Context, int)) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := range n {
		group.Go(func() error {
			return must.Try(func() {
				must.Do(ctx.Err())
				do(ctx, i)
			})
		})
	}
	must.Do(group.Wait())
}

// create creates the objects of all documents one after the other, and writes the status of each that has one. The
// field managers are those of a cluster.
func (c *creator) create(ctx context.Context, all []*template.Template, a *application) {
	for _, document := range all {
		var text bytes.Buffer
		must.Do(document.Execute(&text, a))
		object := &unstructured.Unstructured{}
		must.Do(yaml.Unmarshal(text.Bytes(), &object.Object))
		kind, status := object.GetKind(), object.Object["status"]
		plural, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		var resource dynamic.ResourceInterface = c.client.Resource(plural)
		if namespace := object.GetNamespace(); namespace != "" {
			resource = c.client.Resource(plural).Namespace(namespace)
		}
		object = must.Get(resource.Create(ctx, object, metav1.CreateOptions{FieldManager: "kube-controller-manager"}))
		if status != nil {
			object.Object["status"] = status
			object = must.Get(resource.UpdateStatus(ctx, object, metav1.UpdateOptions{FieldManager: "kubelet"}))
		}
		if a.uids != nil {
			a.uids[kind] = object.GetUID()
		}
		if created := c.created.Add(1); created%5000 == 0 {
			fmt.Fprintf(os.Stderr, "load: %d objects\n", created)
		}
	}
}
