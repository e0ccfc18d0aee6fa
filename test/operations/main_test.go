package operations

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/installation"
)

// What all tests share.
var (
	root    string
	binary  string
	cluster *env.ControlPlane
	manager *installation.Installation
)

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // of setting up
	defer cancel()
	if root, err = env.ModuleRoot(); err != nil {
		return 1, err
	}
	if binary, err = installation.Build(ctx, root, "operations"); err != nil {
		return 1, err
	}
	if cluster, err = env.Start(ctx, env.Options{ControllerManager: true}); err != nil {
		return 1, err
	}
	defer func() {
		if stopped := cluster.Stop(); stopped != nil && err == nil {
			err = stopped
		}
	}()
	manifests, err := cluster.Kubectl(ctx, "kustomize", filepath.Join(root, "config", "default"))
	if err != nil {
		return 1, err
	}
	manager, err = installation.Start(ctx, installation.Options{Plane: cluster, Binary: binary, Manifests: manifests})
	if err != nil {
		return 1, err
	}
	for _, args := range [][]string{
		{"apply", "-k", filepath.Join(root, "config", "samples")},
		{"wait", "--for=condition=Ready", "-n", "shop", "graphview", "--all", "--timeout=120s"},
		{"wait", "--for=condition=Available", "apiservice/v1alpha1.stream.graphview.dev", "--timeout=120s"},
	} {
		if _, err := cluster.Kubectl(ctx, args...); err != nil {
			return 1, fmt.Errorf("%w\n%s", err, cluster.Logs())
		}
	}
	code = m.Run()
	ending, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	exit := manager.Stop(ending)
	text, err := os.ReadFile(manager.LogPath())
	if err != nil {
		return 1, err
	}
	if exit != 0 || code != 0 || bytes.Contains(text, []byte("DATA RACE")) {
		return 1, fmt.Errorf("the operator ended with %d; it said\n%s", exit, text[max(0, len(text)-4000):])
	}
	return code, nil
}

// eventually polls until check returns "", and fails with what it last returned.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	const within = 90 * time.Second
	deadline := time.Now().Add(within)
	for {
		why := check()
		if why == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", within, why)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := cluster.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// get asks a plain port of this machine.
func get(t *testing.T, port int, path string) (code int, body string, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", port, path), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}
