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
	"time"

	"github.com/google/go-cmp/cmp"

	"graphview.dev/graphview/access"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/test/oracle"
	"graphview.dev/test/subscriber"
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

// follower is a subscriber of a channel, which it reads unless it is held.
type follower struct {
	*person
	*subscriber.Subscriber

	channel *Channel
	stop    func()
	hold    sync.Mutex     // locked by a test that stops it
	sent    map[string]int // how often each object was, by namespace/name
}

// follow reads a view as a person until the test ends.
func (s *stage) follow(t *testing.T, who *person, o delivery.SubscribeOptions) *follower {
	t.Helper()
	o.Access = who
	f := &follower{person: who, Subscriber: subscriber.New(), channel: s.open(t).Subscribe(o), sent: make(map[string]int)}
	f.Heard = f.hear
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer f.channel.Close()
		err := f.Follow(subscriber.Batches(func() ([]*delivery.Frame, error) {
			frames, err := f.channel.Next(ctx)
			f.hold.Lock()
			defer f.hold.Unlock()
			return frames, err
		}, func(frame *delivery.Frame) []byte { return frame.JSON }))
		if !errors.Is(err, context.Canceled) {
			f.Fail(err)
		}
	}()
	f.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(f.stop)
	return f
}

// hear counts the objects of a message.
func (f *follower) hear(text []byte) error {
	var m struct {
		Actions []struct {
			Set *struct {
				Vertex struct{ N, NS string } `json:"vx"`
			} `json:"svx"`
		}
	}
	err := json.Unmarshal(text, &m)
	for _, a := range m.Actions {
		if a.Set != nil {
			f.sent[a.Set.Vertex.NS+"/"+a.Set.Vertex.N]++
		}
	}
	return err
}

// has returns the versions of the follower's objects, by namespace/name.
func (f *follower) has() map[string]string {
	versions := make(map[string]string)
	f.Look(func(c *oracle.Client) {
		for key, object := range c.Graph().Vertices {
			metadata, _ := object.(map[string]any)["metadata"].(map[string]any)
			versions[key.Namespace+"/"+key.Name], _ = metadata["resourceVersion"].(string)
		}
	})
	return versions
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
			if err := f.Err(); err != nil {
				t.Fatalf("follower %d: %v", i, err)
			}
			if diff := cmp.Diff(want, f.has()); diff != "" {
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

// fickle is a person with an answer that changes the first time that something is resolved.
type fickle struct {
	*person

	asked, turns int
}

func (f *fickle) Changed() <-chan struct{} {
	f.turns++
	return f.person.Changed()
}

func (f *fickle) Resolve(ctx context.Context, unknown []access.Place) error {
	if f.asked++; f.asked == 1 {
		f.let("vault", true)
	}
	return f.person.Resolve(ctx, unknown)
}

// TestFindWhileAnswersChange: an object is found under the answers that there are by
// then, however they change while the holder asks.
func TestFindWhileAnswersChange(t *testing.T) {
	s := newStage(t)
	s.set("shop", "a")
	who := &fickle{person: newPerson("shop")}
	who.now = answers{{Resource: "pods"}: false, {Resource: "pods", Namespace: "vault"}: false}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	found, err := s.open(t).Find(ctx, graph.Key{Resource: pods, Namespace: "shop", Name: "a"}, who)
	if err != nil || found == nil || !strings.Contains(string(found.Vertex), `"a"`) {
		t.Fatalf("found %v %v", found, err)
	}
	if who.turns > 4 {
		t.Errorf("looked %d times whether an answer had changed", who.turns)
	}
}

// changing is the channel of a person who may see the shop and the bank, to which a change is
// on its way.
func changing(t *testing.T, namespace, name string) (*person, *Channel) {
	t.Helper()
	s, who := newStage(t), newPerson("shop", "bank")
	s.set("shop", "kept")
	s.set("bank", "lost")
	c := s.subscribe(t, delivery.SubscribeOptions{Access: who})
	if text, _ := next(t, c); !strings.Contains(text, "lost") {
		t.Fatal(text)
	}
	if frames, err := c.Poll(); err != nil || len(frames) > 0 {
		t.Fatal(frames, err)
	}
	s.set(namespace, name)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	return who, c
}

// TestRevokedWhileSent: what was made before a right was lost is dropped, wherever it is by
// then.
func TestRevokedWhileSent(t *testing.T) {
	who, c := changing(t, "bank", "lost-too")
	who.let("bank", false)
	text, _ := next(t, c)
	if !strings.HasPrefix(text, "{") || strings.Contains(text, "lost") || !strings.Contains(text, `"reset":true`) || !strings.Contains(text, "kept") {
		t.Error(text)
	}
}

// TestRightsAreRevokedAndGranted: what an edge drops because of answers that change and
// change back is sent again.
func TestRightsAreRevokedAndGranted(t *testing.T) {
	who, c := changing(t, "shop", "meanwhile")
	who.let("bank", false)
	c.follow()
	who.let("bank", true)
	c.follow()
	if text, _ := next(t, c); !strings.Contains(text, "meanwhile") || !strings.Contains(text, `"reset":true`) {
		t.Error(text)
	}
}

// TestRightsAreSentOnce: a holder is told what it does not know yet of a set of rights.
func TestRightsAreSentOnce(t *testing.T) {
	s := newStage(t)
	s.set("shop", "a")
	who := newPerson("shop")
	c := s.subscribe(t, delivery.SubscribeOptions{Access: who})
	next(t, c)
	if err := who.Resolve(t.Context(), []access.Place{{Resource: "pods", Namespace: "bank"}}); err != nil {
		t.Fatal(err)
	}
	r := c.relay
	r.mu.Lock()
	if a := r.answersLocked(who.Rights(), c.rights); a.Of != c.digest || len(a.Places) != 1 || a.Places[0].Namespace != "bank" {
		t.Errorf("told %+v", a)
	}
	if a := r.answersLocked(who.Rights(), nil); a.Of != "" || len(a.Places) != 3 {
		t.Errorf("a holder that knows nothing is told %+v", a)
	}
	r.mu.Unlock()
	// Another subscriber with the same rights refers to these.
	same := newPerson("shop")
	same.now = who.now
	c.follow()
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.answersLocked(same.Rights(), nil); a.Of != a.Digest || len(a.Places) > 0 {
		t.Errorf("the same answers again: %+v", a)
	}
}
