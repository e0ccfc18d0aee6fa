package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"graphview.dev/graphview/protobuf"
)

var errFrame = errors.New("malformed watch event")

// event carries a document through the reflector, from frames.Decode to the store. Only the
// resource version of its ObjectMeta is set.
type event struct {
	metav1.ObjectMeta

	document document
	// err is why the object is not usable, nil if it is.
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

// Stop ends the watch and waits for its goroutine. The reflector calls Stop when
// it has processed the last event, so ended runs after all events and may report
// a failure.
func (s *stream) Stop() {
	s.StreamWatcher.Stop()
	for range s.ResultChan() {
		// Drain until the channel is closed.
	}
	if s.ended != nil {
		s.ended()
		s.ended = nil
	}
}

// frames reads the events of a watch. It is the Decoder of a StreamWatcher.
type frames struct {
	body   io.Closer
	cancel context.CancelFunc
	in     io.Reader
	// reader reads the events in the encoding of the server, which Decode finds out.
	reader eventReader
	// message, if set, is the table of the objects if the server answers in Protobuf.
	message *protobuf.Message
	secret  bool
	// version is the last resource version that was read, and from the one where the watch began.
	version, from string
	// events are used in turn, because a StreamWatcher reads the next event while
	// the reflector processes the last one.
	events [2]event
	next   int
	// endedInEvent: the watch ended within its first event. endedInEventBefore: so did the watch before.
	endedInEventBefore, endedInEvent bool
	// err is why the watch failed, and lost why its connection ended, or nil; heard is the time of
	// the last byte, or of the end that the server sent. Valid after the watch has ended.
	err, lost error
	heard     time.Time
	// unreadable is set if the watch ended since an event cannot be read in Protobuf.
	unreadable error

	// silent calls giveUp while the server is waited for.
	silent *time.Timer
	// bookmarked: the server sends bookmarks, so its silence means something.
	bookmarked, gaveUp atomic.Bool
}

func newFrames(body io.ReadCloser, cancel context.CancelFunc, version string, secret bool) *frames {
	f := &frames{
		body: body, cancel: cancel, secret: secret, version: version, from: version, heard: time.Now(),
	}
	f.silent = time.AfterFunc(silentFor, f.giveUp)
	f.silent.Stop()
	f.in = hearing{connectionReader{body}, f}
	return f
}

// hearing reads the body of a watch and notes when.
type hearing struct {
	connectionReader

	frames *frames
}

func (h hearing) Read(p []byte) (int, error) {
	f := h.frames
	f.silent.Reset(silentFor)
	defer f.silent.Stop()
	n, err := h.connectionReader.Read(p)
	if n > 0 || errors.Is(err, io.EOF) {
		f.heard = time.Now()
	}
	return n, err
}

// silentFor is the time after which a server that has sent bookmarks is given up if it sends nothing. An
// API server sends a bookmark each minute, so something between lets nothing through.
const silentFor = 2 * time.Minute

// giveUp ends the watch of a server that has sent bookmarks.
func (f *frames) giveUp() {
	if f.bookmarked.Load() {
		f.gaveUp.Store(true)
		f.cancel()
	}
}

// Close ends the request. Decode then returns an error.
func (f *frames) Close() {
	f.cancel()
	_ = f.body.Close() // nothing was written
}

// Decode returns the next event. If the connection ends, for whatever reason, the error is
// io.EOF, and the reflector resumes after the last event. If two watches in a row end within
// their first event, the watch fails with errEndedInEvent.
func (f *frames) Decode() (apiwatch.EventType, runtime.Object, error) {
	if f.reader == nil {
		f.reader = newEventReader(f.in, f.message, f.secret)
	}
	for {
		kind, object, err := f.reader.next()
		if err != nil {
			if err := f.end(err); err != nil {
				f.err = err
				return "", nil, err
			}
			return "", nil, io.EOF
		}
		switch kind {
		case apiwatch.Added, apiwatch.Modified, apiwatch.Deleted:
			e := f.event(object)
			if f.secret {
				// The reader does not need the object any more, but keeps its buffer.
				clear(object)
			}
			if f.unreadable = unreadable(e.err); f.unreadable != nil {
				return "", nil, io.EOF
			}
			return kind, e, nil
		case apiwatch.Bookmark:
			f.bookmarked.Store(true)
			return kind, f.bookmark(object), nil
		case apiwatch.Error:
			status, err := f.status(object)
			return kind, status, err
		}
		// Unknown types of events are ignored.
	}
}

// end returns why the watch failed, or nil if it may resume. err is why no event could be read.
func (f *frames) end(err error) error {
	begun := f.reader.unread()
	within := len(bytes.TrimSpace(begun)) > 0
	if f.secret {
		clear(begun)
	}
	if f.unreadable = unreadable(err); f.unreadable != nil {
		return nil //nolint:nilerr // the watch resumes in JSON
	}
	if _, ok := errors.AsType[*malformedError](err); ok || errors.Is(err, errFrame) {
		return err
	}
	if f.gaveUp.Load() {
		f.lost = errIdleTimeout
	} else if lost, ok := errors.AsType[*connectionError](err); ok {
		f.lost = lost
	}
	if !within || f.progress() {
		return nil
	}
	if f.endedInEventBefore {
		return errEndedInEvent
	}
	f.endedInEvent = true
	return nil
}

// progress reports whether the watch has had an event, a bookmark included.
func (f *frames) progress() bool { return f.version != f.from }

func (f *frames) nextEvent() *event {
	e := &f.events[f.next]
	f.next = 1 - f.next
	return e
}

func (f *frames) event(object []byte) *event {
	e := f.nextEvent()
	e.document.shrink()
	e.err = f.reader.read(&e.document, object, f.secret)
	if len(e.document.resourceVersion) > 0 {
		f.version = string(e.document.resourceVersion)
	}
	e.ResourceVersion = f.version
	return e
}

// bookmark returns the event of a bookmark. Its object has only a resource version.
func (f *frames) bookmark(object []byte) *event {
	e := f.event(object)
	e.err = nil
	return e
}

// status reads the object of an ERROR event.
func (f *frames) status(object []byte) (*metav1.Status, error) {
	var status metav1.Status
	if err := f.reader.status(&status, object); err != nil {
		f.err = fmt.Errorf("status: %w", errFrame)
		return nil, f.err
	}
	f.err = apierrors.FromObject(&status)
	return &status, nil
}
