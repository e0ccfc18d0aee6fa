package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"graphview.dev/graphview/protobuf"
)

// watchGrace is how long a server may keep a watch open after its requested
// timeout. After that, the connection counts as dead.
const watchGrace = 30 * time.Second

// source makes the requests of one reflector, one at a time. When ctx ends, the
// reflector returns before its list has ended; join waits for the list.
type source struct {
	ctx    context.Context //nolint:containedctx // the reflector lists without it
	watch  *Watch
	client *client
	idle   time.Duration
	reduce Reduce // of a Reduced key
	// message is the table of the objects in Protobuf, nil if they are requested as JSON.
	message *protobuf.Message

	// refused: the server refused the last watch request, so probe must succeed
	// before the next list.
	refused bool
	retry   retry
	pages   pages
	// expiredWatches is how many watches in a row started at a version that was too old.
	expiredWatches int
	// endedInFirstEvent: the last watch ended within its first event.
	endedInFirstEvent bool
	// retryBeforeList is the value of retry when the current list in pages began.
	retryBeforeList retry

	mu     sync.Mutex
	joined bool
	lists  sync.WaitGroup
}

// IsWatchListSemanticsUnSupported makes the reflector list instead of using a watch-list.
func (s *source) IsWatchListSemanticsUnSupported() bool { return true }

// List is ListWithContext with the context of the Watch.
func (s *source) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(s.ctx, options)
}

// Watch is WatchWithContext with the context of the Watch.
func (s *source) Watch(options metav1.ListOptions) (apiwatch.Interface, error) {
	return s.WatchWithContext(s.ctx, options)
}

// ListWithContext reads one list, or a page of it, into the Watch, and returns
// a list without items. The reflector then calls store.Replace, which ends the generation.
func (s *source) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	// The reflector calls this in a goroutine that it does not wait for.
	s.mu.Lock()
	if s.joined {
		s.mu.Unlock()
		return nil, context.Canceled
	}
	s.lists.Add(1)
	s.mu.Unlock()
	defer s.lists.Done()

	if err := s.retry.wait(ctx); err != nil {
		return nil, err
	}
	var list *metav1.List
	var err error
	if s.pages.size > 0 {
		list, err = s.listPages(ctx)
	} else {
		list, err = s.listAtOnce(ctx, options)
	}
	if err == nil {
		return list, nil
	}
	if early, ok := errors.AsType[*endedEarlyError](err); ok {
		s.pages.endedEarly(early.objects)
		s.watch.log.V(1).Info("list ended early", "cause", err.Error(), "page", s.pages.size)
	} else {
		err = fmt.Errorf("list %s: %w", s.watch.key.Resource.GroupResource(), err)
	}
	if !relists(err, options) {
		s.retry.failed(err, time.Now())
		s.watch.fail(s.ctx, err, time.Now())
	}
	return nil, err
}

// listAtOnce makes the request of the reflector: for a list in one response, or for the next
// page if the server returned the list in pages.
func (s *source) listAtOnce(ctx context.Context, options metav1.ListOptions) (*metav1.List, error) {
	if options.Continue == "" {
		if err := s.watch.beginList(ctx); err != nil {
			return nil, err
		}
		s.pages.restart()
	}
	list, first, err := s.list(ctx, options)
	if err == nil {
		err = s.pages.checkEnd(list.Continue, first)
	}
	return list, err
}

// join waits for a list in progress and prevents further lists.
func (s *source) join() {
	s.mu.Lock()
	s.joined = true
	s.mu.Unlock()
	s.lists.Wait()
}

// relists reports whether the reflector lists again at once after err. This is routine: the
// server no longer has a page or a version, or does not have it yet.
func relists(err error, options metav1.ListOptions) bool {
	if options.Continue == "" && (options.ResourceVersion == "" || options.ResourceVersion == "0") {
		return false
	}
	return expired(err) || tooLarge(err)
}

// list reads one response and passes its objects to the Watch.
func (s *source) list(ctx context.Context, options metav1.ListOptions) (page *metav1.List, first uint64, err error) {
	if s.refused {
		if err := s.probe(ctx); err != nil {
			return nil, 0, err
		}
	}
	take := func(d *document, invalid error) error { return s.watch.receive(ctx, d, invalid) }
	page, first, err = s.readResponse(ctx, options, s.pages.size, &listReader{take: take})
	if s.fallBack(err) {
		return s.readResponse(ctx, options, s.pages.size, &listReader{take: take})
	}
	return page, first, err
}

// readResponse waits for a slot and reads one response: a page with a limit of size objects, or all
// objects if size is 0. first is the hash of its first object, 0 if it has none. If the
// response ends early, the error is an *endedEarlyError.
func (s *source) readResponse(ctx context.Context, options metav1.ListOptions, size int64, list *listReader) (page *metav1.List, first uint64, err error) {
	release, err := s.client.lists.acquire(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer release()
	began := time.Now()
	meta, got, err := s.request(ctx, options, list)
	if err == nil {
		return &metav1.List{ListMeta: meta}, list.first, nil
	}
	if ctx.Err() == nil && endsEarly(err, got.begun) {
		s.client.endedEarly.Add(1)
		err = &endedEarlyError{
			resource: s.watch.key.Resource.GroupResource().String(), page: size,
			objects: got.objects, bytes: got.bytes, took: time.Since(began), cause: err,
		}
	}
	return nil, 0, err
}

type received struct {
	begun   bool
	objects int
	bytes   int64
}

func (s *source) request(ctx context.Context, options metav1.ListOptions, list *listReader) (meta metav1.ListMeta, got received, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.idle, func() { cancel(errIdleTimeout) })
	defer timer.Stop()
	body, err := s.client.get(ctx, s.watch.key, options, s.message != nil)
	timer.Stop()
	if err != nil {
		return meta, got, orIdleTimeout(ctx, err)
	}
	list.secret, list.message, list.document.reduce = s.watch.key.secrets(), s.message, s.reduce
	answer := &idleTimeoutReader{r: connectionReader{body}, timer: timer, idle: s.idle}
	meta, err = list.readAhead(answer, body)
	got = received{begun: true, objects: list.objects, bytes: answer.bytes}
	if err != nil {
		err = orIdleTimeout(ctx, err)
	}
	return meta, got, err
}

// probe returns an error if a watch is refused. Without it, if lists are allowed but
// watches are not, each retry would list all objects, and the refused watch after the
// list would delete them.
func (s *source) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.idle)
	defer cancel()
	body, err := s.client.get(ctx, s.watch.key, metav1.ListOptions{Watch: true, TimeoutSeconds: new(int64(1))}, false)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	s.refused = false
	cancel()
	_ = body.Close() // only the status code matters
	return nil
}

// WatchWithContext waits for the back-off and starts a watch.
func (s *source) WatchWithContext(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
	if err := s.retry.wait(ctx); err != nil {
		return nil, err
	}
	if s.watch.hasRoom(ctx) {
		return nil, errHasRoom
	}
	options.Watch = true
	limit := time.Hour
	if options.TimeoutSeconds != nil {
		limit = time.Duration(*options.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit+watchGrace)
	body, err := s.client.get(ctx, s.watch.key, options, s.message != nil)
	if err != nil {
		cancel()
		s.retry.failed(err, time.Now())
		s.watchFailed(err)
		return nil, fmt.Errorf("watch %s: %w", s.watch.key.Resource.GroupResource(), err)
	}
	s.watch.confirm(ctx)
	started := time.Now()
	frames := newFrames(body, cancel, options.ResourceVersion, s.watch.key.secrets())
	frames.message, frames.endedInEventBefore = s.message, s.endedInFirstEvent
	for i := range frames.events {
		frames.events[i].document.reduce = s.reduce
	}
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, "watch", "ClientWatchDecoding")
	return &stream{
		StreamWatcher: apiwatch.NewStreamWatcherWithLogger(s.watch.log.V(1), frames, reporter),
		frames:        frames,
		ended: func() {
			s.endedInFirstEvent = frames.endedInEvent
			s.watchEnded(started, frames)
		},
	}, nil
}

// watchEnded records the end of a watch that had started. The end of a connection is no failure of the
// watch, unless the watch was short and had no event. But the objects are not confirmed until the next
// watch begins, which may take long: nothing tells a connection that is lost from an API server that is.
func (s *source) watchEnded(started time.Time, f *frames) {
	now := time.Now()
	lasted := now.Sub(started)
	s.retry.watchLasted(lasted)
	if f.progress() || lasted >= resetAfter {
		s.expiredWatches = 0
	}
	switch {
	case s.fallBack(f.unreadable): // and the watch resumes at the event
	case f.err != nil:
		s.retry.failed(f.err, now)
		s.watchFailed(f.err)
	case !f.progress() && lasted < s.retry.schedule.Duration:
		s.retry.failed(errShort, now)
		s.watchFailed(errShort)
	case f.lost != nil:
		s.watch.fail(s.ctx, fmt.Errorf("watch %s: %w", s.watch.key.Resource.GroupResource(), f.lost), f.heard)
	}
}

// watchFailed reports the error of a watch that did not start or that failed.
func (s *source) watchFailed(err error) {
	if expired(err) {
		if s.expiredWatches++; s.expiredWatches == 1 { // routine: a list follows
			return
		}
		err = errOutrun
	}
	s.refused = reasonFor(err).refuses()
	s.watch.fail(s.ctx, fmt.Errorf("watch %s: %w", s.watch.key.Resource.GroupResource(), err), time.Now())
}

// idleTimeoutReader runs timer only while it waits for the server, so that the time
// that a Handler takes does not count.
type idleTimeoutReader struct {
	r     io.Reader
	timer *time.Timer
	idle  time.Duration
	bytes int64 // read so far
}

func (r *idleTimeoutReader) Read(p []byte) (int, error) {
	r.timer.Reset(r.idle)
	n, err := r.r.Read(p)
	r.timer.Stop()
	r.bytes += int64(n)
	return n, err
}
