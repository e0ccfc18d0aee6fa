package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"graphview.dev/test/bench/must"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// creators work at once; more only wait for the API server.
const creators = 24

// Who the API server notes in managedFields, as in a cluster.
var (
	byController = metav1.CreateOptions{FieldManager: "kube-controller-manager"}
	byKubelet    = metav1.UpdateOptions{FieldManager: "kubelet"}
)

// creator makes the load.
type creator struct {
	client kubernetes.Interface
	shape  shape
	log    io.Writer
	made   atomic.Int64
}

// createLoad makes all objects, and returns when they are there.
func createLoad(ctx context.Context, config *rest.Config, s shape, log io.Writer) {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	http := must.Get(rest.HTTPClientFor(config))
	defer http.CloseIdleConnections()
	client := must.Get(kubernetes.NewForConfigAndClient(config, http))
	c := &creator{client: client, shape: s, log: log}
	started := time.Now()
	fmt.Fprintf(log, "load: %d objects, %s\n", s.objects(), s)
	must.Do(c.create(ctx))
	fmt.Fprintf(log, "load: there after %.0f s\n", time.Since(started).Seconds())
}

func (c *creator) create(ctx context.Context) error {
	if err := c.each(ctx, c.shape.nodes(), func(ctx context.Context, i int) error {
		_, err := c.client.CoreV1().Nodes().Create(ctx, node(c.shape.node(i)), byController)
		return c.count(err)
	}); err != nil {
		return err
	}
	if err := c.each(ctx, c.shape.namespaces, c.namespace); err != nil {
		return err
	}
	return c.each(ctx, c.shape.namespaces*c.shape.applications, func(ctx context.Context, i int) error {
		return c.application(ctx, newApplication(c.shape, i))
	})
}

// each does n things, several at once, and stops at the first error.
func (c *creator) each(ctx context.Context, n int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return group.Wait()
}

// count notes an object that was made.
func (c *creator) count(err error) error {
	if err != nil {
		return err
	}
	if made := c.made.Add(1); made%5000 == 0 {
		fmt.Fprintf(c.log, "load: %d of %d\n", made, c.shape.objects())
	}
	return nil
}

func (c *creator) namespace(ctx context.Context, i int) error {
	name := c.shape.namespace(i)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.client.CoreV1().Namespaces().Create(ctx, namespace, byController); err != nil {
		return err
	}
	_, err := c.client.CoreV1().ConfigMaps(name).Create(ctx, trustBundle(), byController)
	return c.count(err)
}

// application makes one application: what pods need first, owners before what
// they own.
func (c *creator) application(ctx context.Context, a *application) error {
	core, apps := c.client.CoreV1(), c.client.AppsV1()
	for _, create := range []func() error{
		func() error {
			_, err := core.ServiceAccounts(a.namespace).Create(ctx, a.serviceAccount(), byController)
			return err
		},
		func() error {
			_, err := core.ConfigMaps(a.namespace).Create(ctx, a.configMap(), byController)
			return err
		},
		func() error {
			_, err := core.Secrets(a.namespace).Create(ctx, a.secret(), byController)
			return err
		},
		func() error {
			_, err := core.Services(a.namespace).Create(ctx, a.service(), byController)
			return err
		},
		func() error {
			made, err := apps.Deployments(a.namespace).Create(ctx, a.deployment(), byController)
			if err == nil {
				a.deploymentUID = made.UID
			}
			return err
		},
		func() error {
			made, err := apps.ReplicaSets(a.namespace).Create(ctx, a.replicaSet(), byController)
			if err == nil {
				a.replicaSetUID = made.UID
			}
			return err
		},
	} {
		if err := c.count(create()); err != nil {
			return err
		}
	}
	for i := range a.pods {
		pod, err := core.Pods(a.namespace).Create(ctx, a.pod(i), byController)
		if err != nil {
			return err
		}
		a.start(pod)
		_, err = core.Pods(a.namespace).UpdateStatus(ctx, pod, byKubelet)
		if err := c.count(err); err != nil {
			return err
		}
	}
	return nil
}
