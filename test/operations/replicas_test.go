package operations

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

func TestHealth(t *testing.T) {
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/healthz/graph": 200, "/readyz/graphviews": 200, "/readyz/webhook": 200} {
		if code, body, err := get(t, manager.Health, path); err != nil || code != want {
			t.Errorf("%s: %d %s %v", path, code, body, err)
		}
	}
}

// TestSecondReplica: one of two replicas writes status; when it ends it says so,
// and the other goes on. It also serves profiles, which the first does not.
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
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
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
	first := holder(t)
	if first == "" {
		t.Fatal("nobody was elected")
	}
	// What is declared now gets its status from one of them, and Events once.
	file := fixture.Manifest(t, `{apiVersion: graphview.dev/v1alpha1, kind: GraphView, metadata: {name: twice, namespace: shop}, spec: {serviceAccountName: viewer, queries: [{include: {resourceSelectorExpression: "resource == 'services'"}}]}}`)
	kubectl(t, "apply", "-f", file)
	kubectl(t, "wait", "--for=condition=Ready", "-n", "shop", "graphview/twice", "--timeout=90s")
	eventually(t, func() string {
		events := kubectl(t, "get", "events.events.k8s.io", "-n", "shop", "--field-selector=regarding.name=twice,reason=Accepted", "-o", "name")
		if n := len(strings.Fields(events)); n != 1 {
			return fmt.Sprintf("%d Events say that the view was accepted: %s", n, events)
		}
		return ""
	})
	if now := holder(t); now != first {
		t.Errorf("%s writes status, and then %s", first, now)
	}
	kubectl(t, "delete", "-f", file)

	// The first one ends as a kubelet ends it, and gives its office back: the other
	// need not wait until the lease expires.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if code := manager.Stop(ctx); code != 0 {
		t.Errorf("the first replica ended with %d", code)
	}
	kubectl(t, "apply", "-f", file)
	kubectl(t, "wait", "--for=condition=Ready", "-n", "shop", "graphview/twice", "--timeout=90s")
	if now := holder(t); now == first || now == "" {
		t.Errorf("%q writes status after %q ended", now, first)
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

// holder is the replica that writes status.
func holder(t *testing.T) string {
	t.Helper()
	return kubectl(t, "get", "lease", "-n", env.ServiceNamespace, "graphview-manager.graphview.dev", "-o", "jsonpath={.spec.holderIdentity}")
}
