package env

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// clientset returns a client whose connections end with the test.
func clientset(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	set, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// eventually polls until check has nothing to complain about.
func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	err := poll(t.Context(), func(ctx context.Context) (bool, error, error) {
		err := check(ctx)
		return err == nil, err, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestControlPlane(t *testing.T) {
	c := StartT(t, Options{ControllerManager: true})
	admin := clientset(t, c.Config())

	t.Run("kubectl", func(t *testing.T) {
		got, err := c.Kubectl(t.Context(), "get", "namespace", "default", "-o", "name")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("namespace/default\n", string(got)); diff != "" {
			t.Error(diff)
		}
		if _, err := c.Kubectl(t.Context(), "get", "unicorns"); err == nil || !strings.Contains(err.Error(), "doesn't have a resource type") {
			t.Errorf("kubectl get unicorns: %v, want kubectl's own words", err)
		}
	})

	t.Run("strangers are forbidden, until RBAC knows their group", func(t *testing.T) {
		stranger := clientset(t, c.ClientConfig("jane", "visitors"))
		if _, err := stranger.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Fatalf("list pods: %v, want Forbidden", err)
		}
		if _, err := c.Kubectl(t.Context(), "create", "clusterrolebinding", "visitors", "--clusterrole=view", "--group=visitors"); err != nil {
			t.Fatal(err)
		}
		eventually(t, func(ctx context.Context) error {
			_, err := stranger.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
			return err
		})
	})

	t.Run("a ServiceAccount's token", func(t *testing.T) {
		config, err := c.ServiceAccountConfig(t.Context(), "default", "default")
		if err != nil {
			t.Fatal(err)
		}
		_, err = clientset(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:serviceaccount:default:default") {
			t.Fatalf("list pods: %v, want Forbidden for the ServiceAccount", err)
		}
	})

	t.Run("controllers make a Deployment's pods", func(t *testing.T) {
		if _, err := c.Kubectl(t.Context(), "create", "deployment", "web", "--image=web", "--replicas=2"); err != nil {
			t.Fatal(err)
		}
		eventually(t, func(ctx context.Context) error {
			pods, err := admin.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
			if err == nil && len(pods.Items) != 2 {
				err = errors.New("not two pods")
			}
			return err
		})
	})

	t.Run("a restart of the API server keeps address and data", func(t *testing.T) {
		if _, err := c.Kubectl(t.Context(), "create", "configmap", "kept", "--from-literal=a=b"); err != nil {
			t.Fatal(err)
		}
		url := c.URL()
		c.StopAPIServer()
		if _, err := admin.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err == nil {
			t.Error("a stopped API server answers")
		}
		if err := c.StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c.URL() != url {
			t.Errorf("address %s, want %s as before", c.URL(), url)
		}
		var kept *corev1.ConfigMap
		eventually(t, func(ctx context.Context) (err error) {
			kept, err = admin.CoreV1().ConfigMaps("default").Get(ctx, "kept", metav1.GetOptions{})
			return err
		})
		if diff := cmp.Diff(map[string]string{"a": "b"}, kept.Data); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("one more program", func(t *testing.T) {
		p, err := c.Run("sleep", "/bin/sh", "-c", "echo hello; exec sleep 1000")
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, func(context.Context) error {
			if !strings.Contains(c.Logs(), "hello") {
				return errors.New("its output is not in the logs")
			}
			return nil
		})
		p.Terminate(t.Context())
		if err := p.Exited(); err == nil || !strings.Contains(err.Error(), "terminated") {
			t.Errorf("ended with %v, want it terminated", err)
		}
		crashes, err := c.Run("false", "/bin/sh", "-c", "echo at my wits; exit 3")
		if err != nil {
			t.Fatal(err)
		}
		if code := crashes.ExitCode(); code != 3 {
			t.Errorf("exit code %d", code)
		}
		eventually(t, func(context.Context) error {
			if said := Crashes(); !strings.Contains(said, "false ended: exit status 3\n--- last lines of false.log\nat my wits") || strings.Contains(said, "sleep") {
				return fmt.Errorf("programs that have ended by themselves: %q", said)
			}
			return nil
		})
	})

	t.Run("stop", func(t *testing.T) {
		pids := c.pids()
		if len(pids) != 3 {
			t.Fatalf("%d programs, want 3", len(pids))
		}
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
		for _, pid := range pids {
			// Stop has waited for each process, so the number is free.
			if process, err := os.FindProcess(pid); err == nil && process.Signal(syscall.Signal(0)) == nil {
				t.Errorf("process %d lives", pid)
			}
		}
		if _, err := os.Stat(c.Dir()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want it gone", c.Dir(), err)
		}
	})
}

// TestWithoutControllerManager has one control plane for all that needs no controllers: a start takes two seconds of
// processor time. The last subtest leaves etcd paused.
func TestWithoutControllerManager(t *testing.T) {
	c := StartT(t, Options{})
	t.Run("pods", func(t *testing.T) { testPods(t, c) })
	t.Run("CRDs can be used at once", func(t *testing.T) { testCRDs(t, c) })
	t.Run("an APIService reaches a port of this machine", func(t *testing.T) { testAPIService(t, c) })
	t.Run("etcd is paused", func(t *testing.T) { testPausedEtcd(t, c) })
}

func testPods(t *testing.T, c *ControlPlane) {
	t.Helper()
	admin := clientset(t, c.Config())
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
	}
	if _, err := c.Kubectl(t.Context(), "create", "namespace", "shop"); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateServiceAccount(t.Context(), "shop", "default"); err != nil {
		t.Fatal(err)
	}
	// Admission learns of the ServiceAccount by a watch.
	eventually(t, func(ctx context.Context) error {
		_, err := admin.CoreV1().Pods("shop").Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

func TestStartReportsErrors(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    string
	}{
		"not built":               {Options{Binaries: t.TempDir()}, "run `make control-plane`"},
		"the API server gives up": {Options{APIServerArgs: []string{"--no-such-flag"}}, "unknown flag: --no-such-flag"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := Start(t.Context(), test.options)
			if err == nil {
				t.Cleanup(func() { _ = c.Stop() })
				t.Fatal("started")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q, want %q in it", err, test.want)
			}
		})
	}
}
