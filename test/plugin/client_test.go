package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"graphview.dev/client"
	"graphview.dev/test/fixture"
	"graphview.dev/test/oracle"
	"graphview.dev/test/seed"
	"graphview.dev/test/workload"
)

const followed = "plugin-client"

const followedSpec = `
queries:
- include:
    resourceSelectorExpression: >-
      (group == '' && resource in ['pods', 'configmaps', 'secrets', 'serviceaccounts', 'services']) ||
      (group == 'apps' && resource in ['deployments', 'replicasets'])
namespaces: {names: [plugin-client]}
roots:
  objectSelectorExpressions: ["group == 'apps' && resource == 'deployments' && name.startsWith('web')"]
  ignoreArcDirection: [or]
`

// Clients that are cut off again and again, by both roads and by name or by
// request, end with the graph that fresh lists give.
func TestClientEqualsOracle(t *testing.T) {
	var spec map[string]any
	if err := yaml.Unmarshal([]byte(followedSpec), &spec); err != nil {
		t.Fatal(err)
	}
	manifest, err := yaml.Marshal(map[string]any{
		"apiVersion": "graphview.dev/v1alpha1", "kind": "GraphView",
		"metadata": map[string]any{"name": "view", "namespace": followed}, "spec": spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	declared, err := oracle.ParseView(manifest)
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "create", "namespace", followed)
	fixture.KubectlAfter(t, cluster, "delete", "namespace", followed, "--wait=false")
	fixture.Apply(t, cluster, string(manifest))
	kubectl(t, "-n", followed, "wait", "--for=condition=Ready", "graphview/view", fixture.Timeout())

	own := cluster.Config()
	own.Host = manager.URL()
	followers := map[string]*follower{
		"through the API server":            follow(t, cluster.Config(), false, client.ContentObject),
		"on its own port":                   follow(t, own, false, client.ContentObject),
		"a request, through the API server": follow(t, cluster.Config(), true, client.ContentObject),
		"summaries":                         follow(t, own, false, client.ContentSummary),
		"a request for summaries":           follow(t, cluster.Config(), true, client.ContentSummary),
	}
	changes := &workload.Workload{Client: fixture.Client(t, cluster.Config()), Random: rand.New(rand.NewPCG(seed.Of(t), 0)), Namespaces: []string{followed}}
	const steps, cuts = 160, 8
	for range steps {
		if err := changes.Step(t.Context()); err != nil {
			t.Fatalf("change %d: %v", changes.Steps, err)
		}
		if changes.Steps%(steps/cuts) == 0 {
			for how, f := range followers {
				f.cut(t, how)
			}
		}
	}
	summarized := declared
	summarized.Summaries = true
	eventually(t, func() string {
		wants := map[client.Content]oracle.Graph{}
		for content, v := range map[client.Content]oracle.View{client.ContentObject: declared, client.ContentSummary: summarized} {
			want, err := oracle.Build(t.Context(), cluster.Config(), v)
			if err != nil {
				t.Fatal(err)
			}
			wants[content] = want
		}
		for how, f := range followers {
			if diff := f.differs(wants[f.content]); diff != "" {
				return fmt.Sprintf("%s (-oracle +client):\n%s", how, diff)
			}
		}
		return ""
	})
	for how, f := range followers {
		t.Logf("%s: %d connections, %d revs, %d resets", how, f.connections(), f.revs, f.resets)
	}
}

// follower is a program that follows a graph over connections that break.
type follower struct {
	dialer  net.Dialer
	content client.Content

	mu           sync.Mutex
	open         []net.Conn
	dialed       int
	graph        *client.Graph
	err          error
	revs, resets int
}

func follow(t *testing.T, config *rest.Config, byRequest bool, content client.Content) *follower {
	t.Helper()
	f := &follower{content: content}
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := f.dialer.DialContext(ctx, network, address)
		if err == nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.open = append(f.open, conn)
			f.dialed++
		}
		return conn, err
	}
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	o := client.Options{MaxPause: 100 * time.Millisecond, Content: content}
	s := c.Watch(followed, "view", o)
	if byRequest {
		var spec client.Spec
		if err := yaml.UnmarshalStrict([]byte(followedSpec), &spec); err != nil {
			t.Fatal(err)
		}
		s = c.Request(spec, o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.read(ctx, s)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		s.Close()
		c.CloseIdleConnections()
	})
	return f
}

func (f *follower) read(ctx context.Context, s *client.Subscription) {
	for {
		m, err := s.Receive(ctx)
		f.mu.Lock()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			f.err = err
		default:
			if m.Reset {
				f.resets++
			}
			if m.Rev != "" {
				f.revs++
				f.graph = s.Graph().Clone()
			}
		}
		f.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// cut breaks all connections, as a network does, once there are any.
func (f *follower) cut(t *testing.T, how string) {
	t.Helper()
	eventually(t, func() string {
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.open) == 0 {
			return how + ": no connection since the last cut"
		}
		return ""
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range f.open {
		_ = conn.Close() // it may be closed already
	}
	f.open = nil
}

func (f *follower) connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dialed
}

func (f *follower) differs(want oracle.Graph) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.err != nil:
		return f.err.Error()
	case f.graph == nil || !f.graph.Synced:
		return "not synced"
	}
	got := oracle.Graph{Vertices: map[oracle.VertexKey]any{}, Arcs: map[oracle.ArcKey]oracle.Attributes{}}
	for key, v := range f.graph.Vertices {
		var content any
		text := v.Object
		if f.content == client.ContentSummary {
			// Nothing is lost in the types.
			var err error
			if text, err = json.Marshal(v.Summary); err != nil {
				return err.Error()
			}
		}
		if text != nil {
			if err := json.Unmarshal(text, &content); err != nil {
				return err.Error()
			}
		}
		got.Vertices[oracle.VertexKey(key)] = content
	}
	for key, a := range f.graph.Arcs {
		got.Arcs[oracle.ArcKey{From: oracle.VertexKey(key.From), To: oracle.VertexKey(key.To), Type: string(key.Type)}] = oracle.Attributes{
			Controller: a.Controller, BlockOwnerDeletion: a.BlockOwnerDeletion, Missing: a.Missing, Fields: a.Fields,
			Outside: string(a.Outside), Optional: a.Optional,
		}
	}
	return oracle.Compare(want, got)
}
