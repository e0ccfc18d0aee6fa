package watch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// spaces is a server of pods in several namespaces. Its versions are numbers, its
// lists have pages, and each of its answers can be held up.
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
	// before and after are called with each request, such as "list a", before it is
	// looked at and after its answer is made; answer, if it returns a code, replaces it.
	before, after func(request string)
	answer        func(request string) int
	// words: versions are no numbers. lastVersion: deletions have the version
	// before them. pageOf is how many items a page has, 0 for all. repeats: each page is the
	// first.
	words, lastVersion bool
	repeats            bool
	pageOf             int
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

func (s *spaces) spell(version int) string {
	if s.words {
		return fmt.Sprintf("v%d", version)
	}
	return strconv.Itoa(version)
}

func (s *spaces) render(k objectKey, p storedPod) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":%q,"uid":"uid-%d","resourceVersion":%q},"spec":{"n":%d}}`,
		k.name, k.namespace, p.uid, s.spell(p.version), p.n)
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
	s.emitLocked(kind, strings.ReplaceAll(object, "VERSION", s.spell(s.version)))
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
	verb, namespace := "list", ""
	if query.Get("watch") != "" {
		verb = "watch"
	}
	if _, rest, ok := strings.Cut(r.URL.Path, "/namespaces/"); ok {
		namespace, _, _ = strings.Cut(rest, "/")
	}
	request := strings.TrimSpace(verb + " " + namespace)
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
	if verb == "watch" {
		s.serveWatch(w, r, query.Get("resourceVersion"))
		return
	}
	list := s.list(namespace, query.Get("continue"))
	if after != nil {
		after(request)
	}
	write(w, list)
}

// list is a page of a list, as things are now. The token says where it begins, and
// which version it is of: nothing is kept of that, so pages may differ from it as
// those of a server would that has forgotten it.
func (s *spaces) list(namespace, token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []objectKey
	for k := range s.pods {
		if namespace == "" || k.namespace == namespace {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b objectKey) int {
		return strings.Compare(a.namespace+"/"+a.name, b.namespace+"/"+b.name)
	})
	version, next := s.version, ""
	if token != "" && !s.repeats {
		from, at, _ := strings.Cut(token, "@")
		version, _ = strconv.Atoi(at)
		keys = slices.DeleteFunc(keys, func(k objectKey) bool { return k.namespace+"/"+k.name <= from })
	}
	if s.pageOf > 0 && namespace != "" && len(keys) > s.pageOf {
		keys = keys[:s.pageOf]
		last := keys[len(keys)-1]
		next = fmt.Sprintf("%s/%s@%d", last.namespace, last.name, version)
	}
	items := make([]string, len(keys))
	for i, k := range keys {
		items[i] = s.render(k, s.pods[k])
	}
	return fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":%q,"continue":%q},"items":[%s]}`,
		s.spell(version), next, strings.Join(items, ","))
}

func (s *spaces) serveWatch(w http.ResponseWriter, r *http.Request, from string) {
	version, _ := strconv.Atoi(strings.TrimPrefix(from, "v"))
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

// wanting is one lease of the Partial Watch of a spaces server.
type wanting struct {
	t      *testing.T
	lease  *Lease
	wanted []*Wanted
}

var partialKey = Key{Resource: podsKey.Resource, Partial: true}

// followSpaces runs a Manager, and returns what leases the Partial Watch.
func followSpaces(t *testing.T, s *spaces, m *mirror) (lease func() *wanting) {
	t.Helper()
	return followSpacesAfter(t, s, m, time.Millisecond)
}

// followSpacesAfter is followSpaces with a delay after failures.
func followSpacesAfter(t *testing.T, s *spaces, m *mirror, delay time.Duration) (lease func() *wanting) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	manager, err := NewManager(Options{Config: &rest.Config{Host: s.URL, Transport: transport}, Retry: wait.Backoff{Duration: delay}})
	if err != nil {
		t.Fatal(err)
	}
	run(t, manager)
	return func() *wanting {
		lease, err := manager.Acquire(t.Context(), partialKey, func(*Watch) Handler { return m })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(lease.Release)
		return &wanting{t: t, lease: lease}
	}
}

// settled waits until no namespace is being listed.
func (l *wanting) settled() {
	l.t.Helper()
	w := l.lease.Watch()
	for deadline := time.Now().Add(time.Minute); ; {
		if err := w.lock(l.t.Context()); err != nil {
			l.t.Fatal(err)
		}
		fills := w.wants.fills
		w.unlock()
		if fills == 0 {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("%d namespaces are being listed", fills)
		}
		runtime.Gosched()
	}
}

func (l *wanting) want(namespaces ...string) {
	set := make(map[string]bool)
	for _, namespace := range namespaces {
		set[namespace] = true
	}
	l.wanted = l.lease.Want(set)
}
