package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/stream"
	"graphview.dev/test/oracle"
)

// TestRightsChange: on open streams, what is granted comes and what is revoked
// goes, until the right to the graph itself goes.
func TestRightsChange(t *testing.T) {
	registry := prometheus.NewRegistry()
	f := newRightsFixture(t, func(o *stream.Options) { o.PermissionRecheck, o.Registerer = time.Second, registry })
	aggregate(t, f.server)
	c := f.client
	p := newPerson(t, f.red, "wanderer")
	graphs := grant(t, c, p, f.red, graphRule("get watch"))
	bystander := newPerson(t, f.red, "bystander")
	grant(t, c, bystander, "", rule("*", "*"))
	watch := f.path("watch", "named")
	followers := map[string]struct {
		user *rest.Config
		*graphFollower
	}{
		"own port, certificate":   {p.certificate, followSocket(t, t.Context(), ownPort(t, f.server, p.certificate), watch)},
		"own port, token":         {p.token, followSocket(t, t.Context(), ownPort(t, f.server, p.token), watch)},
		"aggregated, certificate": {p.certificate, followSocket(t, t.Context(), throughAPIServer(t, p.certificate), watch)},
		"aggregated, events": {p.token, followResponse(t, t.Context(), throughAPIServer(t, p.token), watch,
			http.Header{"Accept": {"text/event-stream"}})},
	}
	unconcerned := followSocket(t, t.Context(), ownPort(t, f.server, bystander.certificate), watch)
	all := func(what string) {
		t.Helper()
		for how, follower := range followers {
			eventually(t, 30*time.Second, func() string {
				if diff := f.agrees(t, follower.graphFollower, "named", follower.user); diff != "" {
					return fmt.Sprintf("%s, %s: %s", what, how, diff)
				}
				return ""
			})
		}
		eventually(t, 30*time.Second, func() string { return f.agrees(t, unconcerned, "named", bystander.certificate) })
	}
	all("nothing granted")
	blue := grant(t, c, p, f.blue, rule("get list watch", "*"))
	all("one namespace granted")
	pods := grant(t, c, p, "", rule("list watch", "pods", "storageclasses"))
	all("and pods everywhere")
	create(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.blue, Name: "missing"}})
	create(t, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.red, Name: "missing"}})
	all("something missing was made in both namespaces")
	remove(t, c, blue)
	all("the namespace revoked")
	remove(t, c, pods)
	all("pods revoked")
	if n := unconcerned.Redundant(); n > 0 {
		t.Errorf("the bystander was sent %d elements again", n)
	}

	remove(t, c, graphs)
	for how, follower := range followers {
		eventually(t, 30*time.Second, func() string {
			if reason, ok := endedWith(follower.graphFollower, 1008); !ok || !strings.Contains(reason, "may no longer watch graph") {
				return how + ": " + reason
			}
			return ""
		})
	}
	if err := unconcerned.Err(); err != nil {
		t.Errorf("the bystander's stream: %v", err)
	}
	families, err := registry.Gather()
	counted := map[string]bool{}
	for _, family := range families {
		counted[family.GetName()] = true
	}
	if err != nil || !counted["graphview_subject_access_reviews_total"] || !counted["graphview_permission_recheck_interval_seconds"] {
		t.Errorf("metrics %v, %v", counted, err)
	}
}

// TestRightsOfRevokedToken: a stream on our own port does not outlive its token.
func TestRightsOfRevokedToken(t *testing.T) {
	t.Parallel()
	f := newRightsFixture(t, func(o *stream.Options) { o.PermissionRecheck = time.Second })
	p, other := newPerson(t, f.red, "leaver"), newPerson(t, f.red, "stayer")
	for _, one := range []*person{p, other} {
		grant(t, f.client, one, f.red, graphRule("watch"), rule("list watch", "pods"))
	}
	watch := f.path("watch", "named")
	leaves := followSocket(t, t.Context(), ownPort(t, f.server, p.token), watch)
	certificate := followSocket(t, t.Context(), ownPort(t, f.server, p.certificate), watch)
	stays := followSocket(t, t.Context(), ownPort(t, f.server, other.token), watch)
	for follower, user := range map[*graphFollower]*rest.Config{leaves: p.token, certificate: p.certificate, stays: other.token} {
		eventually(t, 20*time.Second, func() string { return f.agrees(t, follower, "named", user) })
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.red, Name: p.name}}
	if err := f.client.Delete(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	// The API server itself believes a token for ten seconds more.
	eventually(t, 40*time.Second, func() string {
		if reason, ok := endedWith(leaves, 1008); !ok || !strings.Contains(reason, "credentials are no longer valid") {
			return reason
		}
		return ""
	})
	for name, follower := range map[string]*graphFollower{"certificate": certificate, "another's token": stays} {
		if err := follower.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRightsOnReturn: a subscriber that reconnects with the same rights resumes; with other
// rights it is reset.
func TestRightsOnReturn(t *testing.T) {
	t.Parallel()
	f := newRightsFixture(t, func(o *stream.Options) { o.PermissionRecheck = time.Second })
	p := newPerson(t, f.red, "commuter")
	grant(t, f.client, p, f.red, graphRule("watch"), rule("list watch", "configmaps"))
	secrets := grant(t, f.client, p, f.red, rule("list watch", "secrets"))
	f.rest(t)
	own := ownPort(t, f.server, p.certificate)
	visit := func(since string) (rev string, reset bool) { return visit(t, own, f.path("watch", "named"), since) }
	rev, _ := visit("")
	for range 2 {
		again, reset := visit(rev)
		if reset {
			t.Errorf("came back with %s, and began anew at %s", rev, again)
		}
		rev = again
	}
	remove(t, f.client, secrets)
	// The API server's authorizer follows with a delay.
	eventually(t, 20*time.Second, func() string {
		if newJudge(t, p.certificate).sees(oracle.VertexKey{Version: "v1", Resource: "secrets", Namespace: f.red}) {
			return "still sees secrets"
		}
		return ""
	})
	// Answers from the last visit are not asked for again within the interval.
	eventually(t, soon, func() string {
		again, reset := visit(rev)
		if !reset {
			return "continued with less rights, at " + again
		}
		return ""
	})
}
