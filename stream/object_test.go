package stream

import (
	"net/http"
	"testing"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
)

func TestObject(t *testing.T) {
	here, absent, gone := newView("shop/here"), newView("shop/absent"), newView("shop/gone")
	here.found = &delivery.Found{Vertex: []byte(`"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"a"},"o":{"kind":"Pod"}`), Out: []byte(`{"t":"r"}`), More: true}
	gone.err = &delivery.ClosedError{Reason: reason.LimitExceeded, Message: "too large"}
	s := serve(t, fakeCluster{here, absent, gone})
	const query = "/object?resource=pods&namespace=shop&name=a"
	for name, test := range map[string]struct {
		path     string
		wantCode int
		want     string
	}{
		"found": {"here" + query, http.StatusOK, `{"apiVersion":"stream.graphview.dev/v1alpha1","kind":"GraphObject","metadata":{"name":"here","namespace":"shop","uid":"uid-here"},` +
			`"vx":{"g":"","v":"v1","r":"pods","ns":"shop","n":"a"},"o":{"kind":"Pod"},"out":[{"t":"r"}],"in":[],"more":true}` + "\n"},
		"not found":         {"absent" + query, http.StatusNotFound, ""},
		"no such graph":     {"none" + query, http.StatusNotFound, ""},
		"not served":        {"gone" + query, http.StatusServiceUnavailable, ""},
		"no name":           {"here/object?resource=pods", http.StatusBadRequest, ""},
		"no name at all":    {"here/object?resource=pods&name=%00", http.StatusBadRequest, ""},
		"other subresource": {"here/status", http.StatusNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := s.get(graphs+"namespaces/shop/graphs/"+test.path, nil)
			if code != test.wantCode || test.want != "" && string(body) != test.want {
				t.Errorf("%d %s, want %d %s", code, body, test.wantCode, test.want)
			}
			if code != http.StatusOK {
				statusOf(t, body)
			}
		})
	}
}
