package schemas

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// TestIndexIgnoresOtherPaths: entries of the index that do not point to a document are ignored.
func TestIndexIgnoresOtherPaths(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"paths": {
			"apis/good.example.com/v1": {"serverRelativeURL": "/openapi/v3/apis/good.example.com/v1?hash=1"},
			"apis/bad.example.com/v1": {"serverRelativeURL": "/api/v1/secrets"},
			"apis/far.example.com/v1": {"serverRelativeURL": "https://example.com/openapi/v3/"}}}`))
	}))
	defer server.Close()
	client, err := New(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"apis/good.example.com/v1": "/openapi/v3/apis/good.example.com/v1?hash=1"}, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}
