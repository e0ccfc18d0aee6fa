package chart

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"graphview.dev/test/fixture"
)

// TestUpgrade installs the chart over the CustomResourceDefinitions of the version
// before, while a view is being streamed: the GraphView stays what it is, and the
// stream goes on.
func TestUpgrade(t *testing.T) {
	previous := func() []byte {
		if err := plane.InstallCRDs(t.Context(), filepath.Join("testdata", "previous")); err != nil {
			t.Fatal(err)
		}
		// It had no ReferenceRules, without which this operator does not start.
		applyFile(t, filepath.Join(root, "config", "crd", "bases", "graphview.dev_referencerules.yaml"))
		return template(t, "crds: {install: false}", "--skip-tests")
	}
	c := install(t, previous)
	// A field that only the new version has.
	upgraded := func() bool {
		return c.kubectl(t, "get", "crd", "graphviews.graphview.dev", "-o", "jsonpath={.spec.versions[0].schema.openAPIV3Schema.properties.status.default.observedGeneration}") == "-1"
	}
	if upgraded() {
		t.Fatal("the version before is the present one")
	}
	// The samples that the previous version accepts.
	for _, file := range []string{"namespace", "account", "web", "worker", "graphview_everything"} {
		applyFile(t, filepath.Join(root, "config", "samples", file+".yaml"))
	}
	applyFile(t, filepath.Join("testdata", "graphview_storefront.yaml"))
	c.kubectl(t, "wait", "--for=condition=Ready", "-n", "shop", "graphview/storefront", fixture.Timeout())
	uid := c.kubectl(t, "get", "graphview", "-n", "shop", "storefront", "-o", "jsonpath={.metadata.uid} {.metadata.generation} {.spec}")
	c.kubectl(t, "wait", "--for=condition=Available", "apiservice/v1alpha1.stream.graphview.dev", fixture.Timeout())
	stream := c.open(t, "shop", "everything")
	stream.wait(t, `"synced":true`)

	if err := c.operator.Apply(t.Context(), template(t, "{}", "--skip-tests")); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t, "wait", "--for=condition=Established", "crd", "-l", "app.kubernetes.io/name=graphview", fixture.Timeout())
	c.kubectl(t, "create", "configmap", "-n", "shop", "after-the-upgrade")
	stream.wait(t, "after-the-upgrade")
	if got := c.kubectl(t, "get", "graphview", "-n", "shop", "storefront", "-o", "jsonpath={.metadata.uid} {.metadata.generation} {.spec}"); got != uid {
		t.Errorf("the GraphView was %s and is %s", uid, got)
	}
	if stream.resets() != 0 {
		t.Error("the stream was reset")
	}
	if !upgraded() {
		t.Error("the definition is still that of the version before")
	}
}

// stream is an open stream of a graph, through the API server.
type stream struct {
	mu    sync.Mutex
	text  strings.Builder
	reset int
	err   error
}

// open subscribes as the administrator, until the test ends.
func (c *cluster) open(t *testing.T, namespace, name string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	path := c.URL() + "/apis/stream.graphview.dev/v1alpha1/watch/namespaces/" + namespace + "/graphs/" + name
	options := &websocket.DialOptions{HTTPClient: fixture.HTTP1(t, c.Config()), Subprotocols: []string{"graphview.v1"}}
	var conn *websocket.Conn
	t.Cleanup(cancel)
	// The API server proxies a moment after the condition Available.
	eventually(t, func() string {
		var err error
		if conn, _, err = websocket.Dial(ctx, path, options); err != nil {
			return err.Error()
		}
		return ""
	})
	conn.SetReadLimit(-1)
	s, done := &stream{}, make(chan struct{})
	go func() {
		defer close(done)
		for s.read(ctx, conn) {
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		_ = conn.CloseNow()
	})
	return s
}

func (s *stream) read(ctx context.Context, conn *websocket.Conn) bool {
	_, text, err := conn.Read(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.err = err
		return false
	}
	var message struct {
		Reset bool `json:"reset"`
	}
	if s.err = json.Unmarshal(text, &message); message.Reset {
		s.reset++
	}
	s.text.Write(text)
	return s.err == nil
}

// wait waits until the stream has said something, and fails when it ends.
func (s *stream) wait(t *testing.T, what string) {
	t.Helper()
	eventually(t, func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case strings.Contains(s.text.String(), what):
			return ""
		case s.err != nil:
			t.Fatal(s.err)
		}
		return "the stream has not said " + what
	})
}

func (s *stream) resets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reset
}
