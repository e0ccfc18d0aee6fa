package scenarios

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// startBackend runs an aggregated API server until the test ends. It serves one object,
// which never changes, of the cluster-scoped resource gadgets in version v1 of the group.
func startBackend(t *testing.T, group string) int {
	t.Helper()
	closing := make(chan struct{})
	answer := func(w http.ResponseWriter, body any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Log(err)
		}
	}
	root := "/apis/" + group + "/v1"
	mux := http.NewServeMux()
	mux.HandleFunc(root, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group + "/v1",
			"resources": []any{map[string]any{
				"name": "gadgets", "singularName": "gadget", "namespaced": false, "kind": "Gadget", "verbs": []string{"list", "watch"},
			}},
		})
	})
	mux.HandleFunc(root+"/gadgets", func(w http.ResponseWriter, req *http.Request) {
		if strings.Contains(req.URL.RawQuery, "watch=") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusOK)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Log(err)
			}
			select {
			case <-req.Context().Done():
			case <-closing:
			}
			return
		}
		answer(w, map[string]any{
			"kind": "GadgetList", "apiVersion": group + "/v1", "metadata": map[string]any{"resourceVersion": "1"},
			"items": []any{map[string]any{
				"kind": "Gadget", "apiVersion": group + "/v1",
				"metadata": map[string]any{"name": "gadget", "uid": "gadget", "resourceVersion": "1"},
			}},
		})
	})
	server := httptest.NewTLSServer(mux)
	t.Cleanup(func() {
		close(closing)
		server.CloseClientConnections()
		server.Close()
	})
	return server.Listener.Addr().(*net.TCPAddr).Port
}
