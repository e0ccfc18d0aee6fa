package graphview

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/intake"
	"graphview.dev/graphview/watch"
	"graphview.dev/test/patience"
)

// flipping serves one ConfigMap, to a watch of all and to a watch of those with a
// label.
type flipping struct {
	mu       sync.Mutex
	version  int
	labelled bool
	// left and expired end what the watches wait for: the object is deleted from the
	// second one, and the position of the first is gone.
	left, expired chan struct{}
}

// set makes the object's next version.
func (s *flipping) set(labelled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.labelled = s.version+1, labelled
}

func (s *flipping) object() (object string, version int, labelled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	labels := `{}`
	if s.labelled {
		labels = `{"colour":"red"}`
	}
	const format = `"metadata":{"namespace":"shop","name":"c","uid":"u","resourceVersion":"%d","labels":%s}`
	return fmt.Sprintf(format, s.version, labels), s.version, s.labelled
}

func (s *flipping) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	selects := query.Get("labelSelector") != ""
	if query.Get("watch") == "" {
		object, version, labelled := s.object()
		if object = "{" + object + "}"; selects && !labelled {
			object = ""
		}
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, version, object)
		return
	}
	w.(http.Flusher).Flush()
	wait := s.expired
	if selects {
		wait = s.left
	}
	select {
	case <-wait:
	case <-r.Context().Done():
		return
	}
	if object, version, _ := s.object(); selects {
		_, _ = fmt.Fprintf(w, `{"type":"DELETED","object":{"kind":"ConfigMap","apiVersion":"v1",%s}}`, object)
	} else if query.Get("resourceVersion") != fmt.Sprint(version) {
		_, _ = fmt.Fprint(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`)
	}
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// TestOutdatedObjects: an object that was something else for a while, which only
// another watch saw, is what it is.
func TestOutdatedObjects(t *testing.T) {
	api := &flipping{left: make(chan struct{}), expired: make(chan struct{})}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	e := startEngine(t, Options{Config: &rest.Config{Host: server.URL, Transport: transport}})
	api.set(false)
	all := follow(t, e, func() bool { return true })
	shows := func(version int, labelled bool) func() bool {
		return func() bool {
			key := graph.Key{Resource: intake.ResourceOf(configMapsResource), Namespace: "shop", Name: "c"}
			at, ok := all.view.lens.Look(key, 1, graph.Reading{})
			if !ok {
				return false
			}
			o := at.Vertex.Payload.(*watch.Object)
			text, err := o.AppendJSON(nil)
			return err == nil && strings.Contains(string(text), "colour") == labelled && o.Version() >= uint64(version)
		}
	}
	patience.Await(t, "the object", shows(1, false))

	api.set(true)
	narrower := all.need
	narrower.Key.LabelSelector = "colour"
	some := newTap(narrower, nil)
	if err := e.acquire(t.Context(), some, all.view); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.intake.Release(some.lease) })
	patience.Await(t, "the object with a label", shows(2, true))

	api.set(false)
	close(api.left)
	sees := func() (sees bool) {
		e.writer.Do(func() { sees = e.graph.Find(some.lease.Feed.Source(), "shop", "c") != 0 })
		return sees
	}
	patience.Await(t, "it has left the other watch", func() bool { return !sees() })
	close(api.expired)
	patience.Await(t, "the object without a label", shows(3, false))
}
