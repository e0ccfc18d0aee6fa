package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// The fixture of all tests.
var (
	cluster *env.ControlPlane
	folder  string // of the plugin
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(fixture.Suite{M: m, Plane: &cluster, SetUp: setUp, Options: env.Options{ControllerManager: true, Audit: true}})
}

// setUp makes the objects of two namespaces, and users with rights to none, one or both.
func setUp(ctx context.Context) error {
	root, err := env.ModuleRoot()
	if err != nil {
		return err
	}
	binary, err := fixture.Build(ctx, root, "kubectl-graphview")
	if err != nil {
		return err
	}
	folder = filepath.Dir(binary)
	steps := [][]string{
		{"create", "clusterrole", "all-reader", "--verb=get,list,watch", "--resource=*.*"},
		{"create", "clusterrolebinding", "reader", "--clusterrole=all-reader", "--user=reader"},
		{"create", "namespace", "empty"},
	}
	for _, namespace := range []string{"red", "blue"} {
		steps = append(steps,
			[]string{"create", "namespace", namespace},
			[]string{"-n", namespace, "apply", "-f", filepath.Join("testdata", "objects.yaml")},
			[]string{"-n", namespace, "create", "rolebinding", "two", "--clusterrole=view", "--user=two"},
			[]string{"-n", namespace, "wait", "--for=create", "pod/web-0", "pod/web-1", "configmap/kube-root-ca.crt", fixture.Timeout()},
		)
	}
	steps = append(steps,
		[]string{"-n", "red", "apply", "-f", filepath.Join("testdata", "broken.yaml")},
		[]string{"-n", "red", "create", "rolebinding", "one", "--clusterrole=view", "--user=one"},
		[]string{"-n", "red", "create", "role", "narrow", "--verb=get,list,watch", "--resource=pods,statefulsets.apps"},
		[]string{"-n", "red", "create", "rolebinding", "narrow", "--role=narrow", "--user=narrow"},
		[]string{"-n", "red", "create", "role", "named", "--verb=get,list,watch", "--resource=configmaps", "--resource-name=web"},
		[]string{"-n", "red", "create", "rolebinding", "named", "--role=named", "--user=narrow"},
	)
	for _, args := range steps {
		if _, err := cluster.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	// The tests list objects of controllers too, which controllers make with a delay.
	for _, namespace := range []string{"red", "blue"} {
		for _, kind := range []string{"endpointslices", "controllerrevisions"} {
			if why := fixture.Wait(ctx, within, 100*time.Millisecond, func() string {
				out, err := cluster.Kubectl(ctx, "-n", namespace, "get", kind, "-o", "name")
				if err != nil || len(out) == 0 {
					return fmt.Sprintf("no %s in %s: %v", kind, namespace, err)
				}
				return ""
			}); why != "" {
				return errors.New(why)
			}
		}
	}
	return nil
}
