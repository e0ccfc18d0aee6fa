package graphview

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/resources"
	"graphview.dev/graphview/watch"
)

var configMapsResource = resources.Resource{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

// serveConfigMaps answers every list with that many ConfigMaps, watches with
// silence, and all else with 404.
func serveConfigMaps(t *testing.T, n int) *rest.Config {
	t.Helper()
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"metadata":{"namespace":"shop","name":"c%d","uid":"u%d","resourceVersion":"%d"}}`, i, i, i+1)
	}
	list := fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, n+1, strings.Join(items, ","))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !strings.HasSuffix(r.URL.Path, "/configmaps"):
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Query().Get("watch") != "":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			_, _ = w.Write([]byte(list))
		}
	}))
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: server.URL, Transport: transport}
}

// startEngine runs an engine until the test ends. It returns when views run:
// nobody else leases watches, and not before.
func startEngine(t *testing.T, o Options) *Engine {
	t.Helper()
	e, err := NewEngine(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("engine: %v", err)
		}
	})
	for !e.runs() {
		time.Sleep(time.Millisecond)
	}
	return e
}

func (e *Engine) runs() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.life != nil
}

// acquireTap leases the watch of all ConfigMaps for nobody.
func acquireTap(t *testing.T, e *Engine) *tap {
	t.Helper()
	leased := &tap{need: need{resource: configMapsResource, key: watch.Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}}}
	if err := e.acquire(t.Context(), leased); err != nil {
		t.Error(err)
	}
	return leased
}
