package watch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// spaces is a server of pods in several namespaces, each of whose answers can be held up.
type spaces struct {
	*httptest.Server

	t       *testing.T
	mu      sync.Mutex
	version int
	pods    map[objectKey]storedPod
	history []frameAt
	// compacted is the version up to which watches cannot begin.
	compacted int
	changed   chan struct{} // closed with each change
	cut       chan struct{} // closed when all watches end
	asked     []string
	// before and after are called with each request, "list" or "watch", before it is
	// looked at and after its answer is made; answer, if it returns a code, replaces it.
	before, after func(request string)
	answer        func(request string) int
	// lastVersion: deletions have the version before them.
	lastVersion bool
}

type objectKey struct{ namespace, name string }

type storedPod struct {
	version, uid, n int
}

func newSpaces(t *testing.T) *spaces {
	t.Helper()
	s := &spaces{t: t, version: 1, pods: map[objectKey]storedPod{}, changed: make(chan struct{}), cut: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *spaces) render(k objectKey, p storedPod) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":%q,"uid":"uid-%d","resourceVersion":%q},"spec":{"n":%d}}`,
		k.name, k.namespace, p.uid, strconv.Itoa(p.version), p.n)
}

func (s *spaces) emitLocked(kind, object string) {
	s.history = append(s.history, frameAt{s.version, fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", kind, object)})
	close(s.changed)
	s.changed = make(chan struct{})
}

// put makes or changes a pod.
func (s *spaces) put(namespace, name string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	k, kind := objectKey{namespace, name}, "MODIFIED"
	p, ok := s.pods[k]
	if !ok {
		p.uid, kind = s.version, "ADDED"
	}
	p.version, p.n = s.version, n
	s.pods[k] = p
	s.emitLocked(kind, s.render(k, p))
}

// remove deletes a pod, if it is there.
func (s *spaces) remove(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := objectKey{namespace, name}
	p, ok := s.pods[k]
	if !ok {
		return
	}
	delete(s.pods, k)
	s.version++
	if !s.lastVersion {
		p.version = s.version
	}
	s.emitLocked("DELETED", s.render(k, p))
}

// send tells watches of something that is not stored.
func (s *spaces) send(kind, object string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.emitLocked(kind, strings.ReplaceAll(object, "VERSION", strconv.Itoa(s.version)))
}

// hangUp ends all watches; expired, so that they cannot go on where they were.
func (s *spaces) hangUp(expired bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cut)
	s.cut = make(chan struct{})
	if expired {
		s.version++
		s.compacted = s.version
	}
}

// script sets what is done with requests.
func (s *spaces) script(set func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set()
}

// hold has each request of this text wait, before it is looked at or with its
// answer, until release is called. reached is sent one value for each.
func (s *spaces) hold(request string, answered bool) (reached <-chan struct{}, release func()) {
	at, free := make(chan struct{}, 100), make(chan struct{})
	wait := func(asked string) {
		if asked == request {
			at <- struct{}{}
			<-free
		}
	}
	s.script(func() {
		if answered {
			s.after = wait
		} else {
			s.before = wait
		}
	})
	release = sync.OnceFunc(func() { close(free) })
	s.t.Cleanup(release)
	return at, release
}

// requests counts those of this text.
func (s *spaces) requests(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, asked := range s.asked {
		if asked == text {
			n++
		}
	}
	return n
}

func (s *spaces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	request := "list"
	if query.Get("watch") != "" {
		request = "watch"
	}
	s.mu.Lock()
	s.asked = append(s.asked, request)
	before, after, answer := s.before, s.after, s.answer
	s.mu.Unlock()
	if before != nil {
		before(request)
	}
	if answer != nil {
		if code := answer(request); code != 0 {
			refuse(w, code, "Refused")
			return
		}
	}
	if request == "watch" {
		s.serveWatch(w, r, query.Get("resourceVersion"))
		return
	}
	list := s.list()
	if after != nil {
		after(request)
	}
	write(w, list)
}

func (s *spaces) list() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var items []string
	for k, p := range s.pods {
		items = append(items, s.render(k, p))
	}
	return fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, s.version, strings.Join(items, ","))
}

func (s *spaces) serveWatch(w http.ResponseWriter, r *http.Request, from string) {
	version, _ := strconv.Atoi(from)
	s.mu.Lock()
	cut, expired, after := s.cut, from != "" && version < s.compacted, s.after
	s.mu.Unlock()
	if expired {
		refuse(w, http.StatusGone, "Expired")
		return
	}
	follow(w, r, version, cut, func(sent int) ([]frameAt, <-chan struct{}) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.history[sent:], s.changed
	}, func() {
		if after != nil {
			after("event")
		}
	})
}

var partialKey = Key{Resource: podsKey.Resource, Partial: true}

// followSpaces runs a Manager, and returns a partial watch with a mirror as its Handler.
func followSpaces(t *testing.T, s *spaces, m *mirror) *Watch {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	manager, err := NewManager(Options{Config: &rest.Config{Host: s.URL, Transport: transport}, Retry: wait.Backoff{Duration: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	run(t, manager)
	lease, err := manager.Acquire(t.Context(), partialKey, func(*Watch) Handler { return m })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lease.Release)
	return lease.Watch()
}
