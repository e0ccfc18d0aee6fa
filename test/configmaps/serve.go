package configmaps

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview/resources"
)

// Resource is that of ConfigMaps.
var Resource = resources.Resource{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Namespaced: true}

// Unanswered is a label. A list that selects it does not end.
const Unanswered = "unanswered"

// Serve answers each list with n ConfigMaps, c0 and so on in namespace shop. Watches bring nothing,
// and other requests get 404.
func Serve(t testing.TB, n int) *rest.Config {
	t.Helper()
	return ServeChanges(t, n, nil)
}

// ServeChanges is Serve whose one watch brings changes of the ConfigMaps with these names.
func ServeChanges(t testing.TB, n int, changed <-chan string) *rest.Config {
	t.Helper()
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"metadata":{"namespace":"shop","name":"c%d","uid":"u%d","resourceVersion":"%d"}}`, i, i, i+1)
	}
	return ServeItems(t, items, changed)
}

// ServeItems is ServeChanges that lists these ConfigMaps.
func ServeItems(t testing.TB, items []string, changed <-chan string) *rest.Config {
	t.Helper()
	newest := len(items) + 1
	list := fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, newest, strings.Join(items, ","))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !strings.HasSuffix(r.URL.Path, "/configmaps"):
			w.WriteHeader(http.StatusNotFound)
		case strings.Contains(r.URL.Query().Get("labelSelector"), Unanswered):
			<-r.Context().Done()
		case r.URL.Query().Get("watch") != "":
			serveWatch(w, r, newest, changed)
		default:
			_, _ = w.Write([]byte(list))
		}
	}))
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: server.URL, Transport: transport}
}

func serveWatch(w http.ResponseWriter, r *http.Request, newest int, changed <-chan string) {
	w.(http.Flusher).Flush() //nolint:forcetypeassert // that of net/http
	for version := newest + 1; ; version++ {
		select {
		case name := <-changed:
			_, _ = fmt.Fprintf(w, `{"type":"MODIFIED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"shop","name":%q,"uid":"u-%s","resourceVersion":"%d"},"data":{"at":"%d"}}}`, name, name, version, version)
			w.(http.Flusher).Flush() //nolint:forcetypeassert // that of net/http
		case <-r.Context().Done():
			return
		}
	}
}
