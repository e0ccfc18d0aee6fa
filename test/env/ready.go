package env

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/patience"
)

// poll calls done until it returns true or a final error, or readyWithin
// has passed. Its error then has the last reason why it was not done.
func poll(ctx context.Context, done func(context.Context) (ok bool, last, final error)) error {
	var last error
	limit := patience.For(readyWithin)
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, limit, true, func(ctx context.Context) (ok bool, final error) {
		ok, last, final = done(ctx)
		return ok, final
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("not within %s: %w", limit, cmp.Or(last, err))
	}
	return err
}

// waitFor waits until a condition of a cluster-scoped object is true.
func (c *ControlPlane) waitFor(ctx context.Context, version, kind, name, condition string) error {
	api, done, err := c.dynamicClient()
	if err != nil {
		return err
	}
	defer done()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind}}
	err = poll(ctx, func(ctx context.Context) (bool, error, error) {
		if err := api.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
			return false, err, nil
		}
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		for _, one := range conditions {
			if one, _ := one.(map[string]any); one["type"] == condition && one["status"] == "True" {
				return true, nil, nil
			}
		}
		return false, fmt.Errorf("conditions %v", conditions), nil
	})
	if err != nil {
		return fmt.Errorf("%s %s %s: %w", kind, name, condition, err)
	}
	return nil
}

// apiServerReady waits for /readyz, which includes RBAC's bootstrap roles. The
// client is made for this alone, so that its connection ends with it.
func (c *ControlPlane) apiServerReady(ctx context.Context) error {
	client, err := rest.HTTPClientFor(c.Config())
	if err != nil {
		return fmt.Errorf("client of %s: %w", apiServer, err)
	}
	defer client.CloseIdleConnections()
	started := time.Now()
	err = poll(ctx, func(ctx context.Context) (bool, error, error) {
		for _, p := range []*Process{c.etcd, c.apiServer} {
			if err := p.Exited(); err != nil {
				return false, nil, err
			}
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL()+"/readyz", http.NoBody)
		if err != nil {
			return false, nil, err
		}
		response, err := client.Do(request)
		if err != nil {
			return false, err, nil
		}
		defer response.Body.Close()
		body, err := io.ReadAll(io.LimitReader(response.Body, 8<<10))
		if err != nil {
			return false, err, nil
		}
		return response.StatusCode == http.StatusOK, fmt.Errorf("/readyz: %s: %s", response.Status, body), nil
	})
	if err != nil {
		return fmt.Errorf("%s ready: %w\n%s", apiServer, err, tail(c.apiServer.log))
	}
	c.logf("%s: ready after %.1f s at %s", apiServer, time.Since(started).Seconds(), c.URL())
	return nil
}

// controllersReady waits for the ServiceAccount default, which the controller manager creates first
// and most tests need first.
func (c *ControlPlane) controllersReady(ctx context.Context) error {
	client, done, err := c.client()
	if err != nil {
		return err
	}
	defer done()
	started := time.Now()
	err = poll(ctx, func(ctx context.Context) (bool, error, error) {
		if err := c.controllerManager.Exited(); err != nil {
			return false, nil, err
		}
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil, err, nil
	})
	if err != nil {
		return fmt.Errorf("%s ready: %w\n%s", controllerManager, err, tail(c.controllerManager.log))
	}
	c.logf("%s: ready after %.1f s", controllerManager, time.Since(started).Seconds())
	return nil
}
