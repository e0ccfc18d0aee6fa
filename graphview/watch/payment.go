package watch

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/jsontree"
)

// objectBytes is the memory of a retained object without its content, in bytes, with its place in the
// graph. Package intake compares it with the heap.
const objectBytes = 470

// cost returns the memory of an object. The allocator rounds its length up.
func (o *Object) cost() int {
	if o.is(free) {
		return 0
	}
	return objectBytes + len(o.data) + len(o.data)/16
}

// payLocked pays for an object that replaces old, and reports whether its namespace may hold it.
func (w *Watch) payLocked(o, old *Object) bool {
	if w.payer == nil {
		return true
	}
	more := o.cost()
	if old != nil {
		more -= old.cost()
	}
	if !w.payer.PayMore(o.Namespace(), budget.Contents, more) {
		w.unpaid[o.key()] = o.cost()
		return false
	}
	delete(w.unpaid, o.key())
	return true
}

// payIdentityLocked pays for an object without content, or retains it for nothing: the graph needs to
// know that it exists.
func (w *Watch) payIdentityLocked(o, old *Object) {
	more := o.cost()
	if old != nil {
		more -= old.cost()
	}
	if !w.payer.PayMore(o.Namespace(), budget.Contents, more) {
		o.flags |= free
		if old != nil {
			w.payer.PayMore(o.Namespace(), budget.Contents, -old.cost())
		}
	}
}

// refundLocked ends the payment for an object that is no longer retained.
func (w *Watch) refundLocked(o *Object) {
	if w.payer != nil {
		delete(w.unpaid, o.key())
		w.payer.PayMore(o.Namespace(), budget.Contents, -o.cost())
	}
}

// refund ends the payment for all objects, after the last request of the Watch.
func (w *Watch) refund() {
	if w.payer == nil {
		return
	}
	w.turn <- struct{}{}
	defer w.unlock()
	for o := range w.objects.all {
		w.payer.PayMore(o.Namespace(), budget.Contents, -o.cost())
	}
}

// hasRoom reports whether the namespace of an object without content may hold its content by now.
func (w *Watch) hasRoom(ctx context.Context) bool {
	if w.payer == nil || w.lock(ctx) != nil {
		return false
	}
	defer w.unlock()
	for key, bytes := range w.unpaid {
		if o := w.objects.get(key); o != nil && bytes-o.cost() <= w.payer.Room(o.Namespace()) {
			return true
		}
	}
	return false
}

// errHasRoom makes the reflector list again. It equals the answer of a server to a version that is too old.
var errHasRoom = apierrors.NewResourceExpired("there is room for the content of objects")

// withoutContent returns the hash of an object that is retained without the content of a hash.
func withoutContent(hash uint64) uint64 { return hash ^ 0x9e3779b97f4a7c15 }

// identity returns the JSON of an object without its content. The length does not depend on the content.
func (d *document) identity() []byte {
	s, _ := jsontree.ScanObject(d.json)
	out := []byte{'{'}
	for range 2 { // apiVersion and kind
		m, _ := s.Member()
		out = append(m.AppendTo(out), ',')
	}
	out = append(out, `"metadata":{"name":`...)
	for _, m := range [...]struct {
		name  string
		value []byte
	}{{"", d.name}, {`,"namespace":`, d.namespace}, {`,"uid":`, d.uid}, {`,"resourceVersion":`, d.resourceVersion}} {
		if len(m.value) > 0 {
			out = append(out, m.name...)
			out, _ = jsontext.AppendQuote(out, m.value) // read has checked that it is UTF-8
		}
	}
	return append(out, "}}"...)
}
