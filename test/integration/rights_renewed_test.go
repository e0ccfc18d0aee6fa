package integration

import (
	"encoding/json"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"graphview.dev/stream"
)

// visit subscribes until the graph is complete. It returns the rev, and reports whether there
// was a reset.
func visit(t *testing.T, r road, path, since string) (rev string, reset bool) {
	t.Helper()
	conn, code, err := r.dial(t, path+"?since="+since, "graphview.v1")
	if err != nil {
		t.Fatalf("%d: %v", code, err)
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(-1)
	for {
		var message struct {
			Rev    string `json:"rev"`
			Synced bool   `json:"synced"`
			Reset  bool   `json:"reset"`
		}
		text, err := read(t, conn)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &message); err != nil {
			t.Fatal(err)
		}
		reset = reset || message.Reset
		if message.Synced {
			return message.Rev, reset
		}
	}
}

// TestRightsOfRenewedToken: a ServiceAccount whose token was renewed, as a
// kubelet does all the time, continues where it was, on each road. To the API
// server the ID of the credential, in extra, is all that differs.
func TestRightsOfRenewedToken(t *testing.T) {
	f := newRightsFixture(t, func(o *stream.Options) { o.PermissionRecheck = time.Second })
	aggregate(t, f.server)
	p := newPerson(t, f.red, "renewer")
	grant(t, f.client, p, f.red, graphRule("watch"), rule("list watch", "configmaps", "secrets"))
	f.rest(t)
	path := f.path("watch", "named")
	for name, with := range map[string]func(*rest.Config) road{
		"own port":   func(token *rest.Config) road { return ownPort(t, f.server, token) },
		"aggregated": func(token *rest.Config) road { return throughAPIServer(t, token) },
	} {
		rev, _ := visit(t, with(p.token), path, "")
		for range 3 {
			renewed, err := cluster.ServiceAccountConfig(t.Context(), f.red, p.name)
			if err != nil {
				t.Fatal(err)
			}
			if renewed.BearerToken == p.token.BearerToken {
				t.Fatal("the token is the same")
			}
			again, reset := visit(t, with(renewed), path, rev)
			if reset {
				t.Errorf("%s: came back with %s and another token, and began anew at %s", name, rev, again)
			}
			rev = again
		}
	}
}
