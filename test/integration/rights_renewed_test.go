package integration

import (
	"encoding/json"
	"testing"
	"time"

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
// server it is another identity: its extra names the credential.
func TestRightsOfRenewedToken(t *testing.T) {
	f := newRightsFixture(t, func(o *stream.Options) { o.PermissionRecheck = time.Second })
	aggregate(t, f.server)
	p := newPerson(t, f.red, "renewer")
	grant(t, f.client, p, f.red, graphRule("watch"), rule("list watch", "configmaps", "secrets"))
	f.rest(t)
	path := f.path("watch", "named")
	rev, _ := visit(t, ownPort(t, f.server, p.token), path, "")
	for range 3 {
		renewed, err := cluster.ServiceAccountConfig(t.Context(), f.red, p.name)
		if err != nil {
			t.Fatal(err)
		}
		if renewed.BearerToken == p.token.BearerToken {
			t.Fatal("the token is the same")
		}
		for name, r := range map[string]road{"own port": ownPort(t, f.server, renewed), "aggregated": throughAPIServer(t, renewed)} {
			again, reset := visit(t, r, path, rev)
			if reset {
				t.Errorf("%s: came back with %s and another token, and began anew at %s", name, rev, again)
			}
			rev = again
		}
	}
}
