package watch

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"
)

// mirror is a Handler that has what it was told.
type mirror struct {
	t       *testing.T
	mu      sync.Mutex
	changed chan struct{}
	objects map[objectKey]string // UID and content
	log     []string
	filled  map[*Wanted]bool
	failed  map[*Wanted]int
	// failures are what was told of those that failed.
	failures []string
	state    State
}

func newMirror(t *testing.T) *mirror {
	t.Helper()
	return &mirror{t: t, changed: make(chan struct{}), objects: map[objectKey]string{}, filled: map[*Wanted]bool{}, failed: map[*Wanted]int{}}
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

func (m *mirror) Same(*Object) {}

func (m *mirror) Delete(o *Object) {
	m.note(fmt.Sprintf("delete %s/%s", o.Namespace(), o.Name()), func() { delete(m.objects, objectKey{o.Namespace(), o.Name()}) })
}

func (m *mirror) Invalid(namespace, name string, err error) {
	m.note(fmt.Sprintf("invalid %s/%s: %v", namespace, name, err), func() {})
}

func (m *mirror) Filled(n *Wanted, err error) {
	m.note("", func() {
		if err != nil {
			m.failed[n]++
			m.failures = append(m.failures, err.Error())
		} else {
			m.filled[n] = true
		}
	})
}

func (m *mirror) State(s State) { m.note("", func() { m.state = s }) }

// until waits until why, which is called under the mirror's lock, returns "".
func (m *mirror) until(why func() string) {
	m.t.Helper()
	deadline := time.After(time.Minute)
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

// equals waits until a mirror was told that all namespaces are filled which leases
// want, and has what the server has in them, and nothing else.
func (m *mirror) equals(s *spaces, leases ...*wanting) {
	m.t.Helper()
	m.until(func() string {
		within := make(map[string]bool)
		for _, l := range leases {
			for _, n := range l.wanted {
				within[n.Namespace()] = true
				if !m.filled[n] {
					return n.Namespace() + " is not filled"
				}
			}
		}
		if len(leases) > 0 && !m.state.Synced {
			return fmt.Sprintf("not synced: %+v", m.state)
		}
		want := make(map[objectKey]string)
		s.mu.Lock()
		for k, p := range s.pods {
			if within[k.namespace] {
				want[k] = fmt.Sprintf("uid-%d map[n:%d]", p.uid, p.n)
			}
		}
		s.mu.Unlock()
		if !maps.Equal(want, m.objects) {
			return fmt.Sprintf("there are %v, want %v", m.objects, want)
		}
		if len(leases) > 0 {
			if got := leases[0].lease.Watch().State().Objects; got != len(want) {
				return fmt.Sprintf("%d objects are retained, want %d", got, len(want))
			}
		}
		return ""
	})
}
