package watch

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"graphview.dev/test/patience"
)

// mirror is a Handler that has what it was told.
type mirror struct {
	t       *testing.T
	mu      sync.Mutex
	changed chan struct{}
	objects map[objectKey]string // UID and content
	log     []string
	state   State
	// wanted are the namespaces that a partial watch is told when it lists.
	wanted map[string]bool
}

func newMirror(t *testing.T) *mirror {
	t.Helper()
	return &mirror{t: t, changed: make(chan struct{}), objects: map[objectKey]string{}}
}

func (m *mirror) note(line string, change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	if line != "" {
		m.log = append(m.log, line)
	}
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *mirror) Set(o *Decoded) {
	tree, err := o.Tree()
	if err != nil {
		m.t.Errorf("%s: %v", o.Name(), err)
	}
	content := fmt.Sprint(o.UID(), " ", tree["spec"])
	m.note(fmt.Sprintf("set %s/%s %s", o.Namespace(), o.Name(), content), func() { m.objects[objectKey{o.Namespace(), o.Name()}] = content })
}

func (m *mirror) VersionOnly(*Object) {}

func (m *mirror) Delete(o *Object) {
	m.note(fmt.Sprintf("delete %s/%s", o.Namespace(), o.Name()), func() { delete(m.objects, objectKey{o.Namespace(), o.Name()}) })
}

func (m *mirror) Invalid(namespace, name string, err error) {
	m.note(fmt.Sprintf("invalid %s/%s: %v", namespace, name, err), func() {})
}

func (m *mirror) Namespaces() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wanted
}

// want names the namespaces for the next list.
func (m *mirror) want(namespaces ...string) {
	set := make(map[string]bool)
	for _, namespace := range namespaces {
		set[namespace] = true
	}
	m.note("", func() { m.wanted = set })
}

func (m *mirror) State(s State) { m.note("", func() { m.state = s }) }

// until waits until why, which is called under the mirror's lock, returns "".
func (m *mirror) until(why func() string) {
	m.t.Helper()
	deadline := time.After(patience.For(time.Minute))
	for {
		m.mu.Lock()
		problem, changed, log := why(), m.changed, m.log
		m.mu.Unlock()
		if problem == "" {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			m.t.Fatalf("%s; log:\n%s", problem, strings.Join(log[max(0, len(log)-100):], "\n"))
		}
	}
}

// told waits until something of an object was told: what it is, or "" for nothing.
func (m *mirror) told(namespace, name, want string) {
	m.t.Helper()
	m.until(func() string {
		if got := m.objects[objectKey{namespace, name}]; !strings.HasSuffix(got, want) || want == "" && got != "" {
			return fmt.Sprintf("%s/%s is %q, want %q", namespace, name, got, want)
		}
		return ""
	})
}

// lines counts those of the log with a prefix.
func (m *mirror) lines(prefix string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, line := range m.log {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// equals waits until the watch has listed the namespaces that are wanted, and the mirror has
// what the server has in them, and nothing else.
func (m *mirror) equals(s *spaces, w *Watch) {
	m.t.Helper()
	m.until(func() string {
		if !m.state.Synced || !maps.Equal(m.state.Namespaces, m.wanted) {
			return fmt.Sprintf("state %+v, wanted are %v", m.state, m.wanted)
		}
		want := make(map[objectKey]string)
		s.mu.Lock()
		for k, p := range s.pods {
			if m.wanted[k.namespace] {
				want[k] = fmt.Sprintf("uid-%d map[n:%d]", p.uid, p.n)
			}
		}
		s.mu.Unlock()
		if !maps.Equal(want, m.objects) {
			return fmt.Sprintf("there are %v, want %v", m.objects, want)
		}
		if got := w.State().Objects; got != len(want) {
			return fmt.Sprintf("%d objects are retained, want %d", got, len(want))
		}
		return ""
	})
}
