package watch

import (
	"context"
	"hash/maphash"
	"math/bits"
	"time"
	"unique"

	"graphview.dev/graphview/panics"
)

// store is the reflector's store. It passes watch events to the Watch until ctx
// ends. Items of a list do not pass through it, see listWatcher.
type store struct {
	ctx   context.Context //nolint:containedctx // the reflector's store takes none
	watch *Watch
}

// Add passes the object of an *event to the Watch.
func (s *store) Add(obj any) error {
	e := obj.(*event) //nolint:forcetypeassert // stream makes nothing else
	return s.watch.receive(s.ctx, &e.document, e.err)
}

// Update passes the object of an *event to the Watch.
func (s *store) Update(obj any) error { return s.Add(obj) }

// Delete deletes the object of an *event from the Watch.
func (s *store) Delete(obj any) error {
	e := obj.(*event) //nolint:forcetypeassert // stream makes nothing else
	return s.watch.remove(s.ctx, &e.document)
}

// Replace ends a list. Its items are already in the Watch.
func (s *store) Replace([]any, string) error { return s.watch.endList(s.ctx) }

// Resync does nothing, because the Handler has all events already.
func (s *store) Resync() error { return nil }

// beginList starts the next generation, before a list is read.
func (w *Watch) beginList(ctx context.Context) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	w.generation++
	return nil
}

// receive processes one object of a list or a watch event. invalid is the reason if
// the object is not usable.
func (w *Watch) receive(ctx context.Context, d *document, invalid error) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	w.takeLocked(d, invalid)
	return nil
}

// takeLocked retains an object and passes it to the Handler. In the operator that is the Feed of
// package intake, where the event continues.
func (w *Watch) takeLocked(d *document, invalid error) {
	key := d.key()
	old := w.objects.get(key)
	if invalid != nil {
		w.invalidLocked(key, old, invalid)
		return
	}
	hash, body := d.hashes()
	if old != nil && old.hash == hash {
		w.confirmLocked(d, old)
		return
	}
	o, json, err := w.retainLocked(d, old, hash, body)
	if err != nil {
		w.invalidLocked(key, old, err)
		return
	}
	if o == old {
		w.confirmLocked(d, old)
		return
	}
	w.setValidLocked(d)
	w.event = Decoded{Object: o, Before: old, json: json}
	w.handler.Set(&w.event)
	w.event = Decoded{}
}

// confirmLocked stores that the content of a retained object is still the same.
func (w *Watch) confirmLocked(d *document, o *Object) {
	w.setValidLocked(d)
	o.seen = w.generation
	if o.renew(d.number()) {
		w.handler.VersionOnly(o)
	}
}

// invalidLocked notifies the Handler of an invalid object. The retained object, old, stays.
func (w *Watch) invalidLocked(key name, old *Object, err error) {
	if old != nil {
		old.seen = w.generation
	}
	w.invalid[key] = w.generation
	w.handler.Invalid(key.namespace.Value(), key.name, err)
}

// retainLocked retains the object of d and replaces old, which may be nil. It returns the JSON that it
// retains. It returns old if that has no content, and there still is no room for it.
func (w *Watch) retainLocked(d *document, old *Object, hash, body uint64) (o *Object, json []byte, err error) {
	defer panics.Recover(&err)
	o = &Object{hash: hash, body: body, seen: w.generation}
	if w.key.secrets() {
		o.flags = ofSecret
	}
	if old != nil {
		o.namespace = old.namespace
	} else {
		o.namespace = unique.Make(string(d.namespace))
	}
	o.version = d.number()
	json = d.json
	pack(o, d.name, d.uid, json, w.codec)
	if !w.payLocked(o, old) {
		if o.hash = withoutContent(hash); old != nil && old.hash == o.hash {
			return old, nil, nil
		}
		json = d.identity()
		o.flags |= contentless
		pack(o, d.name, d.uid, json, w.codec)
		w.payIdentityLocked(o, old)
	}
	w.objects.store(o)
	added := len(o.data)
	if old != nil {
		old.drop()
		added -= len(old.data)
	}
	w.updateSizeLocked(added)
	w.improveCodec()
	return o, json, nil
}

// setValidLocked notifies the Handler if the object was invalid and is now valid or deleted.
func (w *Watch) setValidLocked(d *document) {
	if len(w.invalid) == 0 {
		return
	}
	key := d.key()
	if _, ok := w.invalid[key]; ok {
		delete(w.invalid, key)
		w.handler.Invalid(key.namespace.Value(), key.name, nil)
	}
}

// remove deletes the object that d names.
func (w *Watch) remove(ctx context.Context, d *document) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	w.setValidLocked(d)
	if o := w.objects.get(d.key()); o != nil {
		w.dropLocked(o)
	}
	return nil
}

// dropLocked deletes o and notifies the Handler.
func (w *Watch) dropLocked(o *Object) {
	w.objects.remove(o.key())
	w.refundLocked(o)
	o.drop()
	w.updateSizeLocked(-len(o.data))
	w.handler.Delete(o)
}

// updateSizeLocked updates the number of objects and adds to the number of bytes. From 1 MiB on,
// the state changes when the bytes double or fall to a quarter.
func (w *Watch) updateSizeLocked(added int) {
	w.count.Store(int64(w.objects.used))
	mebibytes := bits.Len64(uint64(w.bytes.Add(int64(added))) >> 20) //nolint:gosec // never negative
	if next := w.currentState(); mebibytes > next.doublings || mebibytes < next.doublings-1 {
		next.doublings = mebibytes
		w.setStateLocked(next)
	}
}

// endList ends a list. It deletes the objects that were not in it.
func (w *Watch) endList(ctx context.Context) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	w.forgetLocked(func(seen uint32) bool { return seen != w.generation })
	next := w.currentState().confirmed()
	next.Synced = true
	w.setStateLocked(next)
	return nil
}

// forgetLocked deletes the objects, valid and invalid, for which drop returns true. seen is the
// generation of the last list or event that had the object.
func (w *Watch) forgetLocked(drop func(seen uint32) bool) {
	for key, seen := range w.invalid {
		if drop(seen) {
			delete(w.invalid, key)
			w.handler.Invalid(key.namespace.Value(), key.name, nil)
		}
	}
	var lost []*Object
	for o := range w.objects.all {
		if drop(o.seen) {
			lost = append(lost, o)
		}
	}
	for _, o := range lost {
		w.dropLocked(o)
	}
}

// fail records that a request failed. heard is the time at which the server last answered. It does
// nothing if ctx has ended.
func (w *Watch) fail(ctx context.Context, err error, heard time.Time) {
	if w.lock(ctx) != nil {
		return
	}
	defer w.unlock()
	next := w.currentState().failed(err, heard, time.Now())
	if next.Reason.revokes() {
		w.forgetLocked(func(uint32) bool { return true })
	}
	w.setStateLocked(next)
}

// confirm records that a watch request succeeded. The state is then up to date if it is Synced.
func (w *Watch) confirm(ctx context.Context) {
	if w.lock(ctx) != nil {
		return
	}
	defer w.unlock()
	if s := w.currentState(); s.Synced {
		w.setStateLocked(s.confirmed())
	}
}

// shelf has the objects of a Watch by name. It is a hash table of pointers with
// linear probing, which takes a quarter of the memory of a map with names as keys.
// The Watch's lock guards it.
type shelf struct {
	cells []*Object // the length is a power of two
	used  int
}

func (n name) hash() uint64 {
	return maphash.Comparable(seed, n.namespace) ^ maphash.String(seed, n.name)
}

func (o *Object) key() name { return name{o.namespace, o.Name()} }

// place returns the index of the cell for the object of that name.
func (s *shelf) place(n name) int {
	mask := len(s.cells) - 1
	i := int(n.hash()) & mask //nolint:gosec // cut off
	for o := s.cells[i]; o != nil && (o.namespace != n.namespace || o.Name() != n.name); o = s.cells[i] {
		i = (i + 1) & mask
	}
	return i
}

// get returns the object of that name, nil if there is none.
func (s *shelf) get(n name) *Object {
	if s.used == 0 {
		return nil
	}
	return s.cells[s.place(n)]
}

// store adds an object, or replaces the object of the same name.
func (s *shelf) store(o *Object) {
	if 4*(s.used+1) > 3*len(s.cells) {
		before := s.cells
		s.cells = make([]*Object, max(8, 2*len(before)))
		for _, o := range before {
			if o != nil {
				s.cells[s.place(o.key())] = o
			}
		}
	}
	i := s.place(o.key())
	if s.cells[i] == nil {
		s.used++
	}
	s.cells[i] = o
}

// remove removes the object of that name, if there is one. It moves objects after
// it that linear probing would not find any more (Knuth, The Art of Computer
// Programming 6.4, algorithm R).
func (s *shelf) remove(n name) {
	if s.get(n) == nil {
		return
	}
	mask := len(s.cells) - 1
	i := s.place(n)
	for j := (i + 1) & mask; s.cells[j] != nil; j = (j + 1) & mask {
		home := int(s.cells[j].key().hash()) & mask //nolint:gosec // cut off
		if (j-home)&mask >= (j-i)&mask {
			s.cells[i], i = s.cells[j], j
		}
	}
	s.cells[i] = nil
	s.used--
}

// all yields every object. The shelf must not change during the iteration.
func (s *shelf) all(yield func(*Object) bool) {
	for _, o := range s.cells {
		if o != nil && !yield(o) {
			return
		}
	}
}
