package edge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
)

type answers map[access.Place]bool

func (a answers) Allowed(p access.Place) (allowed, known bool) {
	allowed, known = a[p]
	return allowed, known
}
func (a answers) Digest() string         { return fmt.Sprint(map[access.Place]bool(a)) }
func (a answers) Places() []access.Place { return slices.Collect(maps.Keys(a)) }

// person may see the pods of some namespaces. Until its reader has seen that an answer has
// changed, it keeps the one before, as a rights.Lease does.
type person struct {
	mu      sync.Mutex
	may     map[string]bool
	now     answers
	changed chan struct{}
	seen    chan struct{}
	shown   answers
}

func newPerson(namespaces ...string) *person {
	p := &person{may: make(map[string]bool), now: answers{}, changed: make(chan struct{})}
	for _, n := range namespaces {
		p.may[n] = true
	}
	return p
}

func (p *person) Rights() delivery.Rights {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown == nil || p.seen == nil || p.seen == p.changed {
		p.shown = p.now
	}
	return p.shown
}

func (p *person) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = p.changed
	return p.seen
}

func (p *person) Resolve(_ context.Context, unknown []access.Place) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = maps.Clone(p.now)
	for _, place := range unknown {
		p.now[access.Place{Group: place.Group, Resource: place.Resource}] = false
		p.now[place] = p.may[place.Namespace]
	}
	return nil
}

// let changes the answer about a namespace.
func (p *person) let(namespace string, allowed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.may[namespace] == allowed {
		return
	}
	p.may[namespace] = allowed
	p.now = maps.Clone(p.now)
	known := false
	for place := range p.now {
		if place.Namespace == namespace && namespace != "" {
			p.now[place], known = allowed, true
		}
	}
	if known {
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

func (p *person) sees() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.may)
}

// follower reads a channel, unless it is held, and keeps what it is sent.
type follower struct {
	*person

	channel *Channel
	stop    func()
	hold    sync.Mutex // locked by a test that stops it

	mu       sync.Mutex
	vertices map[string]string // versions, by namespace/name
	sent     map[string]int    // how often each was
	resets   int
	synced   bool
	err      error
}

// follow reads a view as a person until the test ends.
func (s *stage) follow(t *testing.T, who *person, o delivery.SubscribeOptions) *follower {
	t.Helper()
	o.Access = who
	f := &follower{person: who, channel: s.open(t).Subscribe(o), vertices: make(map[string]string), sent: make(map[string]int)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer f.channel.Close()
		for {
			frames, err := f.channel.Next(ctx)
			f.hold.Lock()
			f.take(frames, err)
			f.hold.Unlock()
			if err != nil {
				return
			}
		}
	}()
	f.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(f.stop)
	return f
}

func (f *follower) take(frames []*delivery.Frame, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && !errors.Is(err, context.Canceled) {
		f.err = err
	}
	for _, frame := range frames {
		var m struct {
			Actions []struct {
				Set *struct {
					Vertex struct{ N, NS string } `json:"vx"`
					O      struct {
						Metadata struct{ ResourceVersion string }
					}
				} `json:"svx"`
				Delete *struct {
					Vertex struct{ N, NS string } `json:"vx"`
				} `json:"dvx"`
			}
			Reset, Synced bool
		}
		if err := json.Unmarshal(frame.JSON, &m); err != nil {
			f.err = fmt.Errorf("%.100s: %w", frame.JSON, err)
			return
		}
		if m.Reset {
			f.resets++
			clear(f.vertices)
		}
		f.synced = f.synced || m.Synced
		for _, a := range m.Actions {
			if a.Set != nil {
				key := a.Set.Vertex.NS + "/" + a.Set.Vertex.N
				f.vertices[key] = a.Set.O.Metadata.ResourceVersion
				f.sent[key]++
			}
			if a.Delete != nil {
				delete(f.vertices, a.Delete.Vertex.NS+"/"+a.Delete.Vertex.N)
			}
		}
	}
}

// wants waits until the followers have of all what each may see.
func wants(t *testing.T, all map[string]string, followers ...*follower) {
	t.Helper()
	for i, f := range followers {
		eventually(t, func() string {
			may, want := f.sees(), make(map[string]string)
			for key, version := range all {
				if namespace, _, _ := strings.Cut(key, "/"); may[namespace] {
					want[key] = version
				}
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.err != nil {
				t.Fatalf("follower %d: %v", i, f.err)
			}
			if diff := cmp.Diff(want, f.vertices); diff != "" {
				return fmt.Sprintf("follower %d, who sees %v: %s", i, may, diff)
			}
			return ""
		})
	}
}

// channels waits until so many subscribers read from the holder, which knows as many.
func (s *stage) channels(t *testing.T, want int) {
	t.Helper()
	eventually(t, func() string {
		if edge, holder := s.client.Channels(), s.Subscribers(); edge != int64(want) || holder != want {
			return fmt.Sprintf("%d channels, and %d subscribers at the holder, want %d", edge, holder, want)
		}
		return ""
	})
}
