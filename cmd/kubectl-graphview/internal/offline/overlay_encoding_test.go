package offline

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// TestOverlayReadsJSON: a client that prefers Protobuf gets its list through the overlay all the same, since the
// overlay asks the API server for JSON.
func TestOverlayReadsJSON(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if accept := r.Header.Get("Accept"); strings.Contains(accept, "protobuf") {
			t.Errorf("the API server is asked for %s", accept)
		}
		_, _ = w.Write([]byte(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}`))
	}))
	t.Cleanup(server.Close)
	m := load(t, dataMap("a", "app: a", "x: laid"))
	client, err := rest.HTTPClientFor(NewOverlay(&rest.Config{Host: server.URL}, m).Config(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/configmaps", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/vnd.kubernetes.protobuf,application/json")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var list metav1.PartialObjectMetadataList
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil || len(list.Items) != 1 || list.Items[0].Name != "a" {
		t.Errorf("%v, %v", list.Items, err)
	}
}
