package watch

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// forgetChunk is how many objects are forgotten in one turn.
const forgetChunk = 256

// Wanted is a namespace that at least one Lease of a Partial Watch wants. Two
// Wanted may have the same namespace, one after the other.
type Wanted struct {
	namespace string

	// leases is how many want it. Guarded by the mutex of wants.
	leases int
	ended  atomic.Bool

	// Guarded by the Watch's turn.

	// since is the generation that had begun when the Watch began to take in
	// what it sees of the namespace: the ones after it list all of that.
	since uint32
	// complete: the Handler was told of all there is.
	complete bool
	// fill lists what there was before, nil while nothing does.
	fill *fill
	// retry is when it may be listed again after it could not be, nil before the first
	// time. What fails in one namespace delays no other.
	retry *retry
	// fruitless is how many lists of it in a row came to no end.
	fruitless int
	// listed is the version of that list, 0 once another list has begun of all
	// namespaces: of what a watch tells, all up to it is in what is retained.
	listed uint64
}

// Namespace is its name.
func (n *Wanted) Namespace() string { return n.namespace }

// Ended tells whether nobody wants it any more.
func (n *Wanted) Ended() bool { return n.ended.Load() }

// stale tells whether an event of this version was overtaken by the list of the
// namespace. old is what is retained of the object. While the namespace is listed, an
// object that is not retained may be one that the list has yet to come to.
func (n *Wanted) stale(version uint64, old *Object) bool {
	if old == nil {
		return version != 0 && version <= n.listed
	}
	return version != 0 && version < old.Version() && (n.fill != nil || version <= n.listed)
}

// wants are the namespaces of a Partial Watch. It watches all namespaces, and
// retains the objects of those alone that a Lease wants.
type wants struct {
	mu sync.Mutex
	// leased are the namespaces that leases want. It differs from taken until the
	// Watch gets round to it.
	leased map[string]*Wanted
	// changed has room for one, and says that there may be something to do.
	changed chan struct{}

	// taken are the namespaces whose objects are taken in. The map is replaced as
	// a whole, in the Watch's turn.
	taken atomic.Pointer[map[string]*Wanted]
	// foreign counts about as many objects as other namespaces have: those in the last
	// list of all, without those taken in since, with those forgotten since.
	foreign atomic.Int64

	// Guarded by the Watch's turn.

	// listing: a list of all namespaces is under way.
	listing bool
	// fills is how many are under way.
	fills int
	// unordered: some version is no number. What is older cannot be told then, so
	// that a namespace is not listed by itself.
	unordered bool
	// relisting: the watch is to end for a list of all namespaces. cut ends it, nil
	// while there is none.
	relisting bool
	cut       context.CancelFunc
	// relisted is when it ended last because that costs less.
	relisted time.Time
}

func newWants() *wants {
	s := &wants{leased: make(map[string]*Wanted), changed: make(chan struct{}, 1)}
	s.taken.Store(new(map[string]*Wanted))
	return s
}

// kick says that there may be something to do.
func (s *wants) kick() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// begin waits for the first call of Want.
func (s *wants) begin(ctx context.Context) error {
	select {
	case <-s.changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Want says which namespaces the lease of a Partial Watch wants from now on, and
// returns them. The Watch begins with the first such call of any of its leases.
// Calls for one lease come one after the other.
func (l *Lease) Want(namespaces map[string]bool) []*Wanted {
	s := l.watch.wants
	s.mu.Lock()
	defer s.mu.Unlock()
	next := make(map[string]*Wanted, len(namespaces))
	out := make([]*Wanted, 0, len(namespaces))
	for namespace, wanted := range namespaces {
		if !wanted {
			continue
		}
		n := l.wanted[namespace]
		if n == nil {
			if n = s.leased[namespace]; n == nil {
				n = &Wanted{namespace: namespace}
				s.leased[namespace] = n
			}
			n.leases++
		}
		next[namespace] = n
		out = append(out, n)
	}
	for namespace, n := range l.wanted {
		if next[namespace] == nil {
			s.giveBackLocked(n)
		}
	}
	l.wanted = next
	s.kick()
	return out
}

// giveBack takes in that a lease was released.
func (s *wants) giveBack(l *Lease) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range l.wanted {
		s.giveBackLocked(n)
	}
	l.wanted = nil
	s.kick()
}

func (s *wants) giveBackLocked(n *Wanted) {
	if n.leases--; n.leases == 0 {
		n.ended.Store(true)
		delete(s.leased, n.namespace)
	}
}

// skips returns a function that tells objects which need not be read, nil if all
// are taken in.
func (s *wants) skips() func(namespace []byte) bool {
	if s == nil {
		return nil
	}
	return func(namespace []byte) bool {
		_, taken := (*s.taken.Load())[string(namespace)]
		return !taken
	}
}

// skipsListed is skips for a list of all namespaces.
func (s *wants) skipsListed() func(namespace []byte) bool {
	skips := s.skips()
	if skips == nil {
		return nil
	}
	return func(namespace []byte) bool {
		skipped := skips(namespace)
		if skipped {
			s.foreign.Add(1)
		}
		return skipped
	}
}

// ignores tells, in the Watch's turn, whether an object that a list or an event
// brings is not to be taken in. old is what is retained of it.
func (s *wants) ignores(d *document, old *Object) bool {
	if s == nil {
		return false
	}
	n := (*s.taken.Load())[string(d.namespace)]
	return n == nil || n.stale(d.number(), old)
}

// deleted notes, in the Watch's turn, that an object has gone. old is what is
// retained of it. It returns false for an object that is there again.
func (s *wants) deleted(d *document, old *Object) bool {
	if s == nil {
		return true
	}
	n := (*s.taken.Load())[string(d.namespace)]
	if n == nil {
		return false
	}
	s.note(n, d)
	return old == nil || !n.stale(d.number(), old)
}

// faulty notes, in the Watch's turn, that the watch told of an object that cannot be read.
func (s *wants) faulty(d *document) {
	if s == nil {
		return
	}
	if n := (*s.taken.Load())[string(d.namespace)]; n != nil {
		s.note(n, d)
	}
}

// note has the list of a namespace leave what is older than d.
func (s *wants) note(n *Wanted, d *document) {
	switch {
	case n.fill == nil:
	case d.number() == 0:
		s.unordered, n.fill = true, nil
	default:
		n.fill.note(d)
	}
}

// begun notes, in the Watch's turn, that a list of all namespaces begins. It has all
// that is listed of single ones, and may be older.
func (s *wants) begun() {
	if s == nil {
		return
	}
	s.listing, s.relisting = true, false
	s.foreign.Store(0)
	s.forgetFills()
}

// revoked notes, in the Watch's turn, that nothing may be read any more: what is being
// listed may not be taken in either.
func (s *wants) revoked() {
	if s != nil {
		s.forgetFills()
	}
}

// forgetFills ends the lists of single namespaces and forgets what they were of.
func (s *wants) forgetFills() {
	for _, n := range *s.taken.Load() {
		n.fill, n.listed = nil, 0
	}
}

// swept notes, in the Watch's turn, that a list of all namespaces is complete.
func (w *Watch) swept() {
	s := w.wants
	if s == nil {
		return
	}
	s.listing, s.unordered = false, false
	for _, n := range *s.taken.Load() {
		if !n.complete && n.since != w.generation {
			w.filled(n)
		}
	}
	s.kick()
}

// filled tells the Handler that all there is of a namespace was told.
func (w *Watch) filled(n *Wanted) {
	n.complete = true
	w.handler.Filled(n, nil)
}

// adopt has the Watch take in what it sees of the namespaces that leases want, and of
// no others. What is retained of others is to be forgotten.
func (w *Watch) adopt(ctx context.Context) (gone map[string]bool, err error) {
	if err := w.lock(ctx); err != nil {
		return nil, err
	}
	defer w.unlock()
	s := w.wants
	s.mu.Lock()
	next := maps.Clone(s.leased)
	s.mu.Unlock()
	before := *s.taken.Load()
	gone = make(map[string]bool)
	for namespace, n := range before {
		if next[namespace] != n {
			n.fill = nil
		}
		if next[namespace] == nil {
			gone[namespace] = true
		}
	}
	for namespace, n := range next {
		switch old := before[namespace]; {
		case old == n:
		case old == nil:
			n.since = w.generation
		default:
			// Nobody has wanted it for a moment, which the Watch did not notice.
			n.since, n.listed, n.retry, n.fruitless = old.since, old.listed, old.retry, old.fruitless
			if old.complete {
				w.filled(n)
			}
		}
	}
	s.taken.Store(&next)
	if len(gone) > 0 {
		w.healIn(gone)
	}
	return gone, nil
}

// healIn takes back which objects of some namespaces are invalid.
func (w *Watch) healIn(namespaces map[string]bool) {
	for key := range w.invalid {
		if namespace := key.namespace.Value(); namespaces[namespace] {
			delete(w.invalid, key)
			w.handler.Invalid(namespace, key.name, nil)
		}
	}
}

// forgetIn forgets the objects of namespaces of which nothing is taken in any more. It
// does so in slices: there may be many.
func (w *Watch) forgetIn(ctx context.Context, namespaces map[string]bool) error {
	if len(namespaces) == 0 {
		return nil
	}
	objects, err := w.retainedIn(ctx, namespaces)
	for err == nil && len(objects) > 0 {
		n := min(len(objects), forgetChunk)
		err = w.drop(ctx, objects[:n])
		objects = objects[n:]
	}
	return err
}

// retainedIn returns the objects of namespaces that are retained now.
func (w *Watch) retainedIn(ctx context.Context, namespaces map[string]bool) (objects []*Object, err error) {
	if err := w.lock(ctx); err != nil {
		return nil, err
	}
	defer w.unlock()
	for o := range w.objects.all {
		if namespaces[o.Namespace()] {
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// drop forgets objects, as far as they are retained.
func (w *Watch) drop(ctx context.Context, objects []*Object) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	for _, o := range objects {
		if o.Retained() {
			w.dropLocked(o)
			w.wants.foreign.Add(1)
		}
	}
	return nil
}
