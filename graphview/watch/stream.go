package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

var errFrame = errors.New("malformed watch event")

// event carries a document through the reflector, from frames.Decode to the store. Only the
// resource version of its ObjectMeta is set.
type event struct {
	metav1.ObjectMeta

	document document
	// err is why the object could not be read.
	err error
}

// GetObjectKind is required by runtime.Object. The document has the kind.
func (e *event) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject makes event a runtime.Object. It is not called.
func (e *event) DeepCopyObject() runtime.Object {
	c := *e
	return &c
}

// stream is a StreamWatcher whose Stop waits for its goroutine and reports why the watch ended.
type stream struct {
	*apiwatch.StreamWatcher

	frames *frames
	ended  func()
}

// Stop ends the watch and joins its goroutine. It is called by the reflector,
// after the last event has been taken in; so that is when to say that the
// watch has failed.
func (s *stream) Stop() {
	s.StreamWatcher.Stop()
	for range s.ResultChan() {
		// Until it is closed.
	}
	if s.ended != nil {
		s.ended()
		s.ended = nil
	}
}

// frames reads the events of a watch: {"type":…,"object":…}, one after the
// other.
type frames struct {
	body   io.Closer
	cancel context.CancelFunc
	dec    *jsontext.Decoder
	secret bool
	// version is the last resource version that was seen, and from the one where the watch begins.
	version, from string
	// events are used alternately: a StreamWatcher reads one event ahead of
	// what its reader has taken.
	events [2]event
	next   int
	// skips reports whether objects of a namespace are skipped. nil: none are.
	skips func(namespace []byte) bool
	// relists: the watch ends for a list of everything.
	relists atomic.Bool
	// tornBefore: the last watch ended within its first event; and so has this one if torn.
	tornBefore, torn bool
	// err is why the watch ended, if it failed. To be read after that.
	err error
}

func newFrames(body io.ReadCloser, cancel context.CancelFunc, version string, secret bool) *frames {
	return &frames{
		body: body, cancel: cancel, secret: secret, version: version, from: version,
		dec: jsontext.NewDecoder(connectionReader{body}, tolerant...),
	}
}

// Close ends the request; Decode then fails.
func (f *frames) Close() {
	f.cancel()
	_ = f.body.Close() // nothing was written
}

// Decode returns the next event. A connection that ends, however that is, is
// io.EOF: the reflector resumes from the last event. It does not if the same event could
// not be read twice in a row.
func (f *frames) Decode() (apiwatch.EventType, runtime.Object, error) {
	for {
		raw, err := f.dec.ReadValue()
		if err != nil {
			if f.relists.CompareAndSwap(true, false) {
				f.err = errRelist
				return apiwatch.Error, &errRelist.ErrStatus, nil
			}
			if err := f.end(malformed(err)); err != nil {
				f.err = err
				return "", nil, err
			}
			return "", nil, io.EOF
		}
		kind, object := frame(raw)
		switch kind {
		case apiwatch.Added, apiwatch.Modified, apiwatch.Deleted:
			e, skipped := f.skip(object)
			if skipped {
				// All that the reflector does with a bookmark is note how far it is.
				kind = apiwatch.Bookmark
			} else {
				e = f.event(object)
			}
			if f.secret {
				// The decoder is done with it, and keeps its buffer until the next.
				clear(raw)
			}
			return kind, e, nil
		case apiwatch.Bookmark:
			return kind, f.bookmark(object), nil
		case apiwatch.Error:
			status, err := f.status(object)
			return kind, status, err
		case "":
			f.err = errFrame
			return "", nil, f.err
		}
		// Unknown types of events are ignored.
	}
}

// end returns why the watch has failed, given why no event could be read.
func (f *frames) end(err error) error {
	begun := f.dec.UnreadBuffer()
	within := len(bytes.TrimSpace(begun)) > 0
	if f.secret {
		clear(begun)
	}
	if _, ok := errors.AsType[*malformedError](err); ok {
		return err
	}
	if !within || f.progress() {
		return nil
	}
	if f.tornBefore {
		return errTorn
	}
	f.torn = true
	return nil
}

// progress reports whether the watch has had an event.
func (f *frames) progress() bool { return f.version != f.from }

// frame returns the parts of a watch event, or "" if it is none.
func frame(raw []byte) (kind apiwatch.EventType, object []byte) {
	s := scanner{b: raw}
	if !s.open() {
		return "", nil
	}
	for m, ok := s.member(); ok; m, ok = s.member() {
		switch string(m.name) {
		case "type":
			said, _ := text(m.value)
			kind = apiwatch.EventType(said)
		case "object":
			object = m.value
		}
	}
	if object == nil {
		return "", nil
	}
	return kind, object
}

// skip returns an event without a document if the namespace of the object is skipped.
func (f *frames) skip(object []byte) (e *event, skipped bool) {
	if f.skips == nil {
		return nil, false
	}
	namespace, version, ok := whereabouts(object)
	if !ok || !f.skips(namespace) {
		return nil, false
	}
	e = f.nextEvent()
	e.err = nil
	if len(version) > 0 {
		f.version = string(version)
	}
	e.ResourceVersion = f.version
	return e, true
}

// relist ends the watch so that the reflector lists again.
func (f *frames) relist() {
	f.relists.Store(true)
	f.cancel()
}

func (f *frames) nextEvent() *event {
	e := &f.events[f.next]
	f.next = 1 - f.next
	return e
}

func (f *frames) event(object []byte) *event {
	e := f.nextEvent()
	e.document.shrink()
	// A watch tells each object's kind; a server that does not is not guessed.
	e.err = e.document.read(object, typeMeta{}, f.secret)
	if len(e.document.resourceVersion) > 0 {
		f.version = string(e.document.resourceVersion)
	}
	e.ResourceVersion = f.version
	return e
}

// bookmark has nothing but a resource version.
func (f *frames) bookmark(object []byte) *event {
	e := f.event(object)
	e.err = nil
	return e
}

// status reads the object of an ERROR event.
func (f *frames) status(object []byte) (*metav1.Status, error) {
	var status metav1.Status
	if err := json.Unmarshal(object, &status); err != nil {
		f.err = fmt.Errorf("status: %w", errFrame)
		return nil, f.err
	}
	f.err = apierrors.FromObject(&status)
	return &status, nil
}
