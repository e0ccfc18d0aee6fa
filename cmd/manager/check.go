package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/api/v1alpha1"
)

// checkWithin is the time in which each check must succeed: after an installation,
// caBundles and endpoints are not ready at once.
const (
	checkWithin = 90 * time.Second
	checkEvery  = 2 * time.Second
)

// checks are the checks of an installation, by the parts that users rely on.
var checks = map[string]func(context.Context, *rest.Config) error{
	"definitions": checkDefinitions,
	"apiservice":  checkAPIService,
	"webhook":     checkWebhook,
}

func checkable(list string) error {
	for name := range strings.SplitSeq(list, ",") {
		if list != "" && checks[name] == nil {
			return fmt.Errorf("--check must be some of %s, not %q", strings.Join(slices.Sorted(maps.Keys(checks)), ", "), name)
		}
	}
	return nil
}

// check runs the checks, for --check. `helm test` starts it, in an image without a shell.
func check(ctx context.Context, o *options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	config.UserAgent = "graphview-check/" + version
	var failed error
	for name := range strings.SplitSeq(o.check, ",") {
		err := eventually(ctx, func(ctx context.Context) error { return checks[name](ctx, config) })
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		fmt.Fprintln(os.Stdout, name+": ok")
	}
	return failed
}

// eventually repeats try until it returns nil. After checkWithin it returns the last
// error.
func eventually(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}

// checkDefinitions lists GraphViews in the namespace of the check.
func checkDefinitions(ctx context.Context, config *rest.Config) error {
	c, err := checkClient(config)
	if err != nil {
		return err
	}
	var views v1alpha1.GraphViewList
	if err := c.List(ctx, &views, client.InNamespace(namespace()), client.Limit(1)); err != nil {
		return fmt.Errorf("list GraphViews: %w", err)
	}
	return nil
}

// checkAPIService lists graphs through the Kubernetes API server.
func checkAPIService(ctx context.Context, config *rest.Config) error {
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	path := "/apis/stream.graphview.dev/v1alpha1/namespaces/" + namespace() + "/graphs"
	if err := c.RESTClient().Get().AbsPath(path).Do(ctx).Error(); err != nil {
		return fmt.Errorf("list graphs: %w", err)
	}
	return nil
}

// checkWebhook applies, in a dry run, a GraphView whose expression cannot be compiled, and expects that it is
// refused.
func checkWebhook(ctx context.Context, config *rest.Config) error {
	c, err := checkClient(config)
	if err != nil {
		return err
	}
	err = c.Create(ctx, &v1alpha1.GraphView{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "check-", Namespace: namespace()},
		Spec: v1alpha1.GraphViewSpec{Queries: []v1alpha1.Query{
			{Include: &v1alpha1.Include{ResourceSelectorExpression: "this is no expression"}},
		}},
	}, client.DryRunAll)
	switch {
	case err == nil:
		return errors.New("a GraphView that cannot be compiled was not refused")
	case apierrors.IsInvalid(err):
		return nil
	default:
		return fmt.Errorf("create a GraphView: %w", err)
	}
}

func checkClient(config *rest.Config) (client.Client, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return c, nil
}
