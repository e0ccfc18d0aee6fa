package watch

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"graphview.dev/test/patience"
)

// recorder remembers what Watches told, and complains when it is told two things
// at once by one.
type recorder struct {
	t *testing.T

	mu      sync.Mutex
	changed chan struct{}
	busy    map[*Watch]bool
	log     []string
	json    map[string]string
	state   State
	// failures are the texts of the errors in states.
	failures []string
	// block, if set, is called in Set.
	block func()
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	return &recorder{t: t, changed: make(chan struct{}), busy: map[*Watch]bool{}, json: map[string]string{}}
}

// recording is the Handler of one Watch.
type recording struct {
	*recorder

	watch *Watch
}

func (r *recorder) handle(w *Watch) Handler { return &recording{r, w} }

func (r *recorder) enter(w *Watch) (leave func(line string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[w] {
		r.t.Error("handler called while in a call for the same watch")
	}
	r.busy[w] = true
	return func(line string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy[w] = false
		if line != "" {
			r.log = append(r.log, line)
		}
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

func (r *recording) Set(o *Decoded) {
	leave := r.enter(r.watch)
	r.mu.Lock()
	block := r.block
	r.mu.Unlock()
	if block != nil {
		block()
	}
	if _, err := o.Tree(); err != nil {
		r.t.Errorf("tree of %s: %v", o.Name(), err)
	}
	json, err := o.JSON()
	kept, keptErr := o.AppendJSON(nil)
	if err != nil || keptErr != nil || !bytes.Equal(json, kept) || o.HasContent() && o.Size() != len(kept) {
		r.t.Errorf("%s: JSON %q, %v; retained %q, %v", o.Name(), json, err, kept, keptErr)
	}
	r.mu.Lock()
	r.json[o.Name()] = string(json)
	r.mu.Unlock()
	leave("set " + o.Name())
}

func (r *recording) VersionOnly(o *Object) {
	r.enter(r.watch)("same " + o.Name())
}

func (r *recording) Delete(o *Object) {
	leave := r.enter(r.watch)
	r.mu.Lock()
	delete(r.json, o.Name())
	r.mu.Unlock()
	leave("delete " + o.Name())
}

func (r *recording) Invalid(namespace, name string, err error) {
	r.enter(r.watch)(fmt.Sprintf("invalid %s/%s: %v", namespace, name, err))
}

func (r *recording) State(s State) {
	leave := r.enter(r.watch)
	r.mu.Lock()
	r.state = s
	if s.Err != nil {
		r.failures = append(r.failures, s.Err.Error())
	}
	r.mu.Unlock()
	leave(fmt.Sprintf("state synced=%t %s %d", s.Synced, s.Reason, s.Objects))
}

// await waits until cond, which is called under the recorder's lock.
func (r *recorder) await(what string, cond func() bool) {
	r.t.Helper()
	deadline := time.After(patience.For(time.Minute))
	for {
		r.mu.Lock()
		ok, changed := cond(), r.changed
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("%s: not seen; log:\n%s", what, strings.Join(r.lines(), "\n"))
		}
	}
}

// awaitFailure waits for an error that begins like that, and returns its text.
func (r *recorder) awaitFailure(prefix string) (text string) {
	r.t.Helper()
	r.await("failure: "+prefix, func() bool {
		i := slices.IndexFunc(r.failures, func(text string) bool { return strings.HasPrefix(text, prefix) })
		if i >= 0 {
			text = r.failures[i]
		}
		return i >= 0
	})
	return text
}

// awaitLine waits for a line of the log, from the from-th on, and returns the
// place after it.
func (r *recorder) awaitLine(from int, want string) int {
	r.t.Helper()
	next := 0
	r.await(want, func() bool {
		for i := from; i < len(r.log); i++ {
			if strings.HasPrefix(r.log[i], want) {
				next = i + 1
				return true
			}
		}
		return false
	})
	return next
}

func (r *recorder) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.log...)
}

func (r *recorder) count(prefix string) int {
	n := 0
	for _, line := range r.lines() {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

func run(t *testing.T, m *Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

// recorded is a Manager whose Watches tell a recorder.
type recorded struct {
	*Manager

	recorder *recorder
}

func (m *recorded) acquire(ctx context.Context, key Key) (*Lease, error) {
	return m.Acquire(ctx, key, m.recorder.handle)
}

func acquire(t *testing.T, m *recorded, key Key) *Lease {
	t.Helper()
	lease, err := m.acquire(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lease.Release() })
	return lease
}
