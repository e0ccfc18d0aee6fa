package fleet

import (
	"context"
	"fmt"
	"testing"
	"time"

	"graphview.dev/client"
	"graphview.dev/test/fixture"
	"graphview.dev/test/operator"
)

// TestContinue: a client of a member's graph goes on after the member has been killed, and is never reset: its sums
// reach the member through the hub.
func TestContinue(t *testing.T) {
	far, hub, member := startOperators(t)
	if err := hub.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	fixture.Kubectl(t, far, "create", "clusterrolebinding", "continues", "--clusterrole=cluster-admin", "--group="+operator.MemberGroup("system:masters"))
	t.Cleanup(func() { // for the other tests of the member
		for _, args := range [][]string{{"clusterrolebinding", "continues"}, {"configmap", "-n", "far", "-l", "away=true"}} {
			if _, err := far.Kubectl(context.WithoutCancel(t.Context()), append([]string{"delete"}, args...)...); err != nil {
				t.Error(err)
			}
		}
	})
	c, err := client.New(client.ForMember(hubPlane.Config(), "far-1"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	// Rights in the member have just been given.
	s := c.Watch("far", "view", client.Options{MaxPause: time.Second, OnRetry: func(error, time.Duration) error { return nil }})
	defer s.Close()
	follow := func(want int) {
		t.Helper()
		for {
			m, err := s.Receive(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if m.Reset {
				t.Errorf("the client is reset: %s", m.JSON)
			}
			if n := len(s.Graph().Vertices); m.Rev != "" && n == want {
				return
			} else if n < want-1 {
				t.Errorf("the client has %d vertices, and there were %d at least", n, want-1)
			}
		}
	}
	if _, err := s.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	objects := len(s.Graph().Vertices)
	for i := range 2 {
		member.Kill()
		if err := member.Restart(); err != nil {
			t.Fatal(err)
		}
		fixture.Apply(t, far, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: away-%d, namespace: far, labels: {away: 'true'}}}", i))
		objects++
		follow(objects)
	}
}
