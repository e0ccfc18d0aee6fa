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

// listWatcher makes the requests of one reflector, one at a time. When ctx ends, the
// reflector returns before its list has ended; join waits for the list.
type listWatcher struct {
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
	// heard is the time at which the server last confirmed the objects: with a list, a watch that began,
	// an event or a bookmark.
	heard time.Time
	retry retry
	pages pages
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
func (lw *listWatcher) IsWatchListSemanticsUnSupported() bool { return true }

// List is ListWithContext with the context of the Watch.
func (lw *listWatcher) List(options metav1.ListOptions) (runtime.Object, error) {
	return lw.ListWithContext(lw.ctx, options)
}

// Watch is WatchWithContext with the context of the Watch.
func (lw *listWatcher) Watch(options metav1.ListOptions) (apiwatch.Interface, error) {
	return lw.WatchWithContext(lw.ctx, options)
}

// ListWithContext reads one list, or a page of it, into the Watch, and returns
// a list without items. The reflector then calls store.Replace, which ends the generation.
func (lw *listWatcher) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	// The reflector calls this in a goroutine that it does not wait for.
	lw.mu.Lock()
	if lw.joined {
		lw.mu.Unlock()
		return nil, context.Canceled
	}
	lw.lists.Add(1)
	lw.mu.Unlock()
	defer lw.lists.Done()

	if err := lw.retry.wait(ctx); err != nil {
		return nil, err
	}
	var list *metav1.List
	var err error
	if lw.pages.size > 0 {
		list, err = lw.listPages(ctx)
	} else {
		list, err = lw.listAtOnce(ctx, options)
	}
	if err == nil {
		lw.heard = time.Now()
		return list, nil
	}
	if early, ok := errors.AsType[*endedEarlyError](err); ok {
		lw.pages.endedEarly(early.objects)
		lw.watch.log.V(1).Info("list ended early", "cause", err.Error(), "page", lw.pages.size)
	} else {
		err = fmt.Errorf("list %s: %w", lw.watch.key.Resource.GroupResource(), err)
	}
	if !relists(err, options) {
		lw.retry.failed(err, time.Now())
		lw.watch.fail(lw.ctx, err, lw.heard)
	}
	return nil, err
}

// listAtOnce makes the request of the reflector: for a list in one response, or for the next
// page if the server returned the list in pages.
func (lw *listWatcher) listAtOnce(ctx context.Context, options metav1.ListOptions) (*metav1.List, error) {
	if options.Continue == "" {
		if err := lw.watch.beginList(ctx); err != nil {
			return nil, err
		}
		lw.pages.restart()
	}
	list, first, err := lw.list(ctx, options)
	if err == nil {
		err = lw.pages.checkEnd(list.Continue, first)
	}
	return list, err
}

// join waits for a list in progress and prevents further lists.
func (lw *listWatcher) join() {
	lw.mu.Lock()
	lw.joined = true
	lw.mu.Unlock()
	lw.lists.Wait()
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
func (lw *listWatcher) list(ctx context.Context, options metav1.ListOptions) (page *metav1.List, first uint64, err error) {
	if lw.refused {
		if err := lw.probe(ctx); err != nil {
			return nil, 0, err
		}
	}
	take := func(d *document, invalid error) error { return lw.watch.receive(ctx, d, invalid) }
	page, first, err = lw.readResponse(ctx, options, lw.pages.size, &listReader{take: take})
	if lw.fallBack(err) {
		return lw.readResponse(ctx, options, lw.pages.size, &listReader{take: take})
	}
	return page, first, err
}

// readResponse waits for a slot and reads one response: a page with a limit of size objects, or all
// objects if size is 0. first is the hash of its first object, 0 if it has none. If the
// response ends early, the error is an *endedEarlyError.
func (lw *listWatcher) readResponse(ctx context.Context, options metav1.ListOptions, size int64, list *listReader) (page *metav1.List, first uint64, err error) {
	release, err := lw.client.lists.acquire(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer release()
	began := time.Now()
	meta, got, err := lw.request(ctx, options, list)
	if err == nil {
		return &metav1.List{ListMeta: meta}, list.first, nil
	}
	if ctx.Err() == nil && endsEarly(err, got.begun) {
		lw.client.endedEarly.Add(1)
		err = &endedEarlyError{
			resource: lw.watch.key.Resource.GroupResource().String(), page: size,
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

func (lw *listWatcher) request(ctx context.Context, options metav1.ListOptions, list *listReader) (meta metav1.ListMeta, got received, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(lw.idle, func() { cancel(errIdleTimeout) })
	defer timer.Stop()
	body, err := lw.client.get(ctx, lw.watch.key, options, lw.message != nil)
	timer.Stop()
	if err != nil {
		return meta, got, orIdleTimeout(ctx, err)
	}
	list.secret, list.message, list.reduce = lw.watch.key.secrets(), lw.message, lw.reduce
	answer := &idleTimeoutReader{r: connectionReader{body}, timer: timer, idle: lw.idle}
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
func (lw *listWatcher) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lw.idle)
	defer cancel()
	body, err := lw.client.get(ctx, lw.watch.key, metav1.ListOptions{Watch: true, TimeoutSeconds: new(int64(1))}, false)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	lw.refused = false
	cancel()
	_ = body.Close() // only the status code matters
	return nil
}

// WatchWithContext waits for the back-off and starts a watch.
func (lw *listWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
	if err := lw.retry.wait(ctx); err != nil {
		return nil, err
	}
	if lw.watch.hasRoom(ctx) {
		return nil, errHasRoom
	}
	options.Watch = true
	limit := time.Hour
	if options.TimeoutSeconds != nil {
		limit = time.Duration(*options.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit+watchGrace)
	body, err := lw.client.get(ctx, lw.watch.key, options, lw.message != nil)
	if err != nil {
		cancel()
		lw.retry.failed(err, time.Now())
		lw.watchFailed(err)
		return nil, fmt.Errorf("watch %s: %w", lw.watch.key.Resource.GroupResource(), err)
	}
	lw.watch.confirm(ctx)
	started := time.Now()
	frames := newFrames(body, cancel, options.ResourceVersion, lw.watch.key.secrets())
	frames.message, frames.endedInEventBefore = lw.message, lw.endedInFirstEvent
	for i := range frames.events {
		frames.events[i].document.reduce = lw.reduce
	}
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, "watch", "ClientWatchDecoding")
	return &stream{
		StreamWatcher: apiwatch.NewStreamWatcherWithLogger(lw.watch.log.V(1), frames, reporter),
		frames:        frames,
		ended: func() {
			lw.endedInFirstEvent = frames.endedInEvent
			lw.watchEnded(started, frames)
		},
	}, nil
}

// watchEnded records the end of a watch that had started. The end of a connection is no failure of the
// watch, unless the watch was short and had no event. But the objects are not confirmed until the next
// watch begins, which may take long: nothing tells a connection that is lost from an API server that is.
func (lw *listWatcher) watchEnded(started time.Time, f *frames) {
	now := time.Now()
	lasted := now.Sub(started)
	lw.heard = f.heard
	lw.retry.watchLasted(lasted)
	if f.progress() || lasted >= resetAfter {
		lw.expiredWatches = 0
	}
	switch {
	case lw.fallBack(f.unreadable): // and the watch resumes at the event
	case f.err != nil:
		lw.retry.failed(f.err, now)
		lw.watchFailed(f.err)
	case !f.progress() && lasted < lw.retry.schedule.Duration:
		lw.retry.failed(errShort, now)
		lw.watchFailed(errShort)
	case f.lost != nil:
		lw.watchFailed(f.lost)
	}
}

// watchFailed reports the error of a watch that did not start, that failed, or whose connection was lost.
func (lw *listWatcher) watchFailed(err error) {
	if expired(err) {
		if lw.expiredWatches++; lw.expiredWatches == 1 { // routine: a list follows
			return
		}
		err = errOutrun
	}
	lw.refused = reasonFor(err).refuses()
	lw.watch.fail(lw.ctx, fmt.Errorf("watch %s: %w", lw.watch.key.Resource.GroupResource(), err), lw.heard)
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
