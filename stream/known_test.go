package stream

import "testing"

// TestUnknownYet: a server that has just started does not say of a view that
// there is none.
func TestUnknownYet(t *testing.T) {
	known := make(chan struct{})
	s := serveOptions(t, Options{Cluster: fakeCluster{newView("shop/web")}, Known: known})
	const base = "/apis/stream.graphview.dev/v1alpha1"
	cases := map[string]struct{ wantBefore, wantAfter int }{
		base + "/namespaces/shop/graphs/nobody":       {503, 404},
		base + "/watch/namespaces/shop/graphs/nobody": {503, 404},
		base + "/namespaces/shop/graphs":              {503, 200},
		base + "/graphs":                              {503, 200},
		base:                                          {200, 200},
	}
	for path, want := range cases {
		if code, body := s.get(path, nil); code != want.wantBefore {
			t.Errorf("%s, before: %d %s, want %d", path, code, body, want.wantBefore)
		}
	}
	close(known)
	for path, want := range cases {
		if code, body := s.get(path, nil); code != want.wantAfter {
			t.Errorf("%s, after: %d %s, want %d", path, code, body, want.wantAfter)
		}
	}
}
