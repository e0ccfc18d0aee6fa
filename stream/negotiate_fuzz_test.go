package stream

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// FuzzNegotiate asks for graphs in every form and with every protocol.
func FuzzNegotiate(f *testing.F) {
	for _, header := range []string{
		"", "*/*", "application/json", "application/json;as=Table;g=meta.k8s.io;v=v1,application/json", "text/event-stream", "text/*;q=0.1, */*;q=0",
		"graphview.v1, base64url.bearer.authorization.k8s.io.dG9rZW4", ";;;,,,", "a/b;c=\"", "\xff/\xff",
	} {
		f.Add(header, "json")
	}
	f.Add("*/*", "dot")
	f.Add("", "\x00")
	f.Fuzz(func(t *testing.T, header, format string) {
		r := httptest.NewRequest(http.MethodGet, "/?format="+url.QueryEscape(format), http.NoBody)
		r.Header = http.Header{"Accept": {header}, "Sec-Websocket-Protocol": {header}, "Upgrade": {header}}
		if table, err := negotiate(r); err != nil && table {
			t.Error("a table, and an error")
		}
		_, _ = negotiateForm(r)
		for _, token := range protocols(r) {
			if token == "" {
				t.Error("an empty protocol")
			}
		}
		_ = isUpgrade(r) && accepts(r, "text/event-stream")
	})
}
