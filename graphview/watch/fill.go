package watch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/graphview/budget"
)

const (
	// maxFills is how many namespaces a Watch lists by themselves at once.
	maxFills = 4
	// A request costs about as much as that many objects of a list. From fewFills
	// namespaces on that are wanted at once, they are counted.
	objectsPerFill = 100
	fewFills       = 8
	// relistEvery is how often all is listed at most because that costs less, or because
	// fruitlessFills lists in a row of one namespace came to no end. It ends the watch for
	// everybody, so whoever invents namespaces may not have it ended time and again.
	relistEvery    = 5 * time.Minute
	fruitlessFills = 3
	// maxTold bounds the deletions and the faults in a namespace that are noted while it
	// is listed. Beyond, that has failed.
	maxTold = 10_000
)

var (
	errOvertaken = errors.New("another list has what this one is for")
	errUnordered = errors.New("a resource version is no number")
	errTooMany   = fmt.Errorf("more than %d objects were deleted, or could not be read, meanwhile", maxTold)
)

// fill is a list of one namespace, for a Watch that watches all and has not taken in
// the objects of this one before. What it lists was so, at its version, while the watch
// goes on: of an object of which the watch has told something newer, or that it has
// deleted since, that counts. What the watch tells later is in order; see Wanted.stale.
type fill struct {
	watch *Watch
	of    *Wanted
	// told are the versions in which objects were deleted, or could not be read, since
	// the fill began, by name. Guarded by the Watch's turn.
	told map[string]uint64
	// err is why what is listed is of no use. Guarded by the Watch's turn.
	err error
}

// note notes a deletion or a fault.
func (f *fill) note(d *document) {
	if f.err != nil {
		return
	}
	f.told[string(d.name)] = d.number()
	if len(f.told) > maxTold {
		f.err, f.told = errTooMany, nil
	}
}

// filler lists namespaces that come to be wanted while a Watch runs.
type filler struct {
	watch  *Watch
	source *source
	// retry is that of each namespace, as it begins.
	retry   retry
	running sync.WaitGroup
}

// keepWants has the Watch take in the namespaces that are wanted, until ctx ends.
func (w *Watch) keepWants(ctx context.Context, s *source, r retry) {
	f := &filler{watch: w, source: s, retry: r}
	defer f.running.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wants.changed:
		case <-timer.C:
		}
		gone, err := w.adopt(ctx)
		if err == nil {
			err = w.forgetIn(ctx, gone)
		}
		again := time.Hour
		if err == nil {
			again, err = f.begin(ctx)
		}
		if err != nil {
			return // with ctx
		}
		timer.Reset(again)
	}
}

// begin lists namespaces that are not complete, or has all listed where that costs
// less. It returns when to try again.
func (f *filler) begin(ctx context.Context) (again time.Duration, err error) {
	w := f.watch
	if err := w.lock(ctx); err != nil {
		return 0, err
	}
	defer w.unlock()
	s := w.wants
	if s.listing || s.relisting || !w.currentState().Synced {
		return time.Hour, nil // a list of all comes first
	}
	var missing []*Wanted
	fruitless := false
	for _, n := range *s.taken.Load() {
		if !n.complete && n.fill == nil {
			missing = append(missing, n)
			fruitless = fruitless || n.fruitless >= fruitlessFills
		}
	}
	if len(missing) == 0 {
		return time.Hour, nil
	}
	all := max(s.foreign.Load(), 0) + w.count.Load()
	cheaper := len(missing) > fewFills && int64(len(missing))*objectsPerFill > all
	better := (fruitless || cheaper) && time.Since(s.relisted) >= relistEvery
	if better {
		s.relisted = time.Now()
		for _, n := range missing {
			n.fruitless = 0
		}
	}
	if better || s.unordered {
		s.relist()
		return time.Hour, nil
	}
	again = time.Hour
	for _, n := range missing {
		if s.fills == maxFills {
			break // the end of one is a change
		}
		if n.retry == nil {
			n.retry = new(f.retry)
		}
		if left := time.Until(n.retry.due); left > 0 {
			again = min(again, left)
			continue
		}
		s.fills++
		begun := &fill{watch: w, of: n, told: make(map[string]uint64)}
		n.fill = begun
		f.running.Go(func() { f.run(ctx, begun) })
	}
	return again, nil
}

// relist ends the watch, so that all namespaces are listed.
func (s *wants) relist() {
	s.relisting = true
	if s.cut != nil {
		s.cut()
	}
}

// run lists one namespace.
func (f *filler) run(ctx context.Context, of *fill) {
	version, err := of.list(ctx, f.source)
	w := f.watch
	if w.lock(ctx) != nil {
		return
	}
	defer w.unlock()
	s := w.wants
	s.fills--
	s.kick()
	n := of.of
	if n.fill != of {
		return // another list has what this one was for
	}
	n.fill = nil
	if of.err != nil {
		err = of.err
	}
	if err == nil {
		n.listed, err = strconv.ParseUint(version, 10, 64)
		if err != nil || n.listed == 0 {
			err = errUnordered
		}
	}
	switch {
	case err == nil:
		w.filled(n)
	case errors.Is(err, errUnordered):
		s.unordered = true
	default:
		n.retry.failed(err, time.Now())
		if endless(err) {
			n.fruitless++
		}
		w.handler.Filled(n, fmt.Errorf("list %s in %s: %w", w.key.Resource.GroupResource(), n.namespace, err))
	}
}

// endless tells whether a list came to no end, though the server gave it: the list of all
// namespaces, which is asked for in another way, may. Of other failures it would be one too.
func endless(err error) bool {
	_, early := errors.AsType[*endedEarlyError](err)
	_, empty := errors.AsType[*budget.Exceeded](err)
	return early || empty || errors.Is(err, errRepeats) || errors.Is(err, errTooMany)
}

// list takes in what there is of the namespace, in pages, and returns the version of the
// list.
func (f *fill) list(ctx context.Context, s *source) (version string, err error) {
	key := f.watch.key
	key.Namespace = f.of.namespace
	p := pages{size: pageSize}
	for {
		page, first, err := s.answer(ctx, key, p.request(), p.size, &listReader{
			take: func(d *document, invalid error) error { return f.take(ctx, d, invalid) },
		})
		if early, ok := errors.AsType[*endedEarlyError](err); ok && p.size > 1 {
			p.endedEarly(early.objects, time.Now())
			continue
		}
		if err != nil {
			return "", err
		}
		if list, err := p.took(page, first, time.Now()); list != nil || err != nil {
			return p.version, err
		}
	}
}

// take takes in one object, unless the watch has told of something newer.
func (f *fill) take(ctx context.Context, d *document, invalid error) error {
	w := f.watch
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	if f.of.fill != f {
		return errOvertaken
	}
	if f.err != nil {
		return f.err
	}
	if string(d.namespace) != f.of.namespace {
		return nil
	}
	key, version := d.key(), d.number()
	old := w.objects.get(key)
	newer, told := f.told[string(d.name)]
	switch {
	case invalid != nil && (old != nil || told):
		return nil // what it is now has been told
	case invalid == nil && version == 0:
		return errUnordered
	case old != nil && old.Version() >= version, told && newer >= version:
		return nil
	}
	before := w.objects.used
	w.takeLocked(d, key, invalid, old)
	w.wants.foreign.Add(int64(before - w.objects.used))
	return nil
}

// watched has the watch that begins end when all namespaces are to be listed. If they
// are already, there is nothing to begin.
func (w *Watch) watched(ctx context.Context, cut context.CancelFunc) error {
	if w.wants == nil {
		return nil
	}
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	if w.wants.relisting {
		return errRelist
	}
	w.wants.cut = cut
	return nil
}

// errRelist ends a watch so that the reflector lists all namespaces.
var errRelist = apierrors.NewResourceExpired("namespaces are wanted that were not watched before")
