package operations

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/faults"
	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

func TestHealth(t *testing.T) {
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/healthz/graph": 200, "/readyz/graphviews": 200} {
		if code, body, err := get(t, manager.Health, path); err != nil || code != want {
			t.Errorf("%s: %d %s %v", path, code, body, err)
		}
	}
}

// TestSecondReplica: one of two replicas writes status. When the first stops, the other
// writes. It also serves profiles, which the first does not.
func TestSecondReplica(t *testing.T) {
	if _, _, err := get(t, manager.Pprof, "/debug/pprof/"); err == nil {
		t.Error("profiles are served unasked")
	}
	kubeconfig, err := manager.Kubeconfig(t.Context(), "graphview-manager")
	if err != nil {
		t.Fatal(err)
	}
	ports, err := env.FreePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	second, err := cluster.Run("second", binary,
		"--kubeconfig="+kubeconfig, "--leader-elect", fmt.Sprintf("--stream-bind-address=127.0.0.1:%d", ports[0]),
		"--metrics-bind-address=0", fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", ports[1]),
		fmt.Sprintf("--pprof-bind-address=127.0.0.1:%d", ports[2]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience.For(30*time.Second))
		defer cancel()
		second.Terminate(ctx)
		if code := second.ExitCode(); code != 0 {
			t.Errorf("the second replica ended with %d", code)
		}
	})
	eventually(t, func() string {
		code, body, err := get(t, ports[1], "/readyz")
		if err != nil || code != http.StatusOK {
			return fmt.Sprint(code, body, err)
		}
		return ""
	})
	code, body, err := get(t, ports[2], "/debug/pprof/heap?debug=1")
	if err != nil || code != http.StatusOK || !strings.HasPrefix(body, "heap profile") {
		t.Errorf("heap profile: %d %v", code, err)
	}
	first := writer(t)
	// A GraphView gets its status from one of them, and its Events once.
	file := fixture.Manifest(t, `{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: twice, namespace: shop}, spec: {serviceAccountName: viewer, queries: [{include: {resourceSelectorExpression: "resource == 'services'"}}]}}`)
	kubectl(t, "apply", "-f", file)
	kubectl(t, "wait", "--for=condition=Ready", "-n", "shop", "graphview/twice", fixture.Timeout())
	eventually(t, func() string {
		events := kubectl(t, "get", "events.events.k8s.io", "-n", "shop", "--field-selector=regarding.name=twice,reason=Accepted", "-o", "name")
		if n := len(strings.Fields(events)); n != 1 {
			return fmt.Sprintf("%d Events say that the view was accepted: %s", n, events)
		}
		return ""
	})
	kubectl(t, "delete", "-f", file)

	// The first one is stopped as a kubelet stops it, and gives up the Lease: the other
	// need not wait until it expires.
	ctx, cancel := context.WithTimeout(t.Context(), patience.For(30*time.Second))
	defer cancel()
	if code := manager.Stop(ctx); code != 0 {
		t.Errorf("the first replica ended with %d", code)
	}
	kubectl(t, "apply", "-f", file)
	kubectl(t, "wait", "--for=condition=Ready", "-n", "shop", "graphview/twice", fixture.Timeout())
	if now := writer(t); now == "" || now == first {
		t.Errorf("the Lease is that of %q, after %q has stopped", now, first)
	}
	kubectl(t, "delete", "-f", file)
	if err := manager.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		code, body, err := get(t, manager.Health, "/readyz")
		if err != nil || code != http.StatusOK {
			return fmt.Sprint(code, body, err)
		}
		return ""
	})
}

// writer returns the holder of the Lease of the replica that writes status.
func writer(t *testing.T) string {
	t.Helper()
	return kubectl(t, "get", "lease", "graphview-status-writer", "-n", env.ServiceNamespace, "-o", "jsonpath={.spec.holderIdentity}")
}

// TestAPIServerUnavailable: a replica waits for the API server at its start, and survives when it
// cannot use the Lease of the writer of status. test/replicas has a writer that loses it.
func TestAPIServerUnavailable(t *testing.T) {
	dir := t.TempDir()
	if err := cluster.ServingCertificate(dir); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	account := "system:serviceaccount:" + env.ServiceNamespace + ":graphview-manager"
	proxy, err := faults.NewProxy(cluster.ClientConfig(account, "system:serviceaccounts", "system:serviceaccounts:"+env.ServiceNamespace, "system:authenticated"), pair)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := env.WriteKubeconfig(kubeconfig, proxy.Config(cluster.CA())); err != nil {
		t.Fatal(err)
	}
	ports, err := env.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	unavailable := faults.Fault{Chance: 1, Code: http.StatusServiceUnavailable}
	proxy.Break(1, unavailable)
	replica, err := cluster.Run("unavailable", binary, "--kubeconfig="+kubeconfig, "--leader-elect",
		fmt.Sprintf("--stream-bind-address=127.0.0.1:%d", ports[0]), "--metrics-bind-address=0", fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", ports[1]))
	if err != nil {
		t.Fatal(err)
	}
	defer replica.Stop()
	asked := func(verb string, more int) {
		t.Helper()
		want := proxy.Count(verb) + more
		eventually(t, func() string {
			if err := replica.Exited(); err != nil {
				return "" // reported below
			}
			if n := proxy.Count(verb); n < want {
				return fmt.Sprintf("%d requests to %s, want %d", n, verb, want)
			}
			return ""
		})
		if err := replica.Exited(); err != nil {
			t.Fatal(err)
		}
	}
	asked("discover", 4)
	proxy.Heal()
	eventually(t, func() string {
		if code, body, err := get(t, ports[1], "/readyz"); err != nil || code != http.StatusOK {
			return fmt.Sprint(code, body, err)
		}
		return ""
	})
	asked("get", 1)
	// The replica cannot use the Lease of the writer of status, and asks for it again and again.
	refused := unavailable
	refused.Resources, refused.Verbs = []string{"leases"}, []string{"get", "update", "create"}
	proxy.Break(1, refused)
	asked("get", 5)
}
