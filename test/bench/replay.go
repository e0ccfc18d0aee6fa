package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"graphview.dev/test/must"
)

// replay is a proxy in front of the API server that answers watches of pods itself, with the
// changes of play, and forwards other requests. An API server on the measured cores
// cannot make so many changes a second. The pods are the API server's own.
type replay struct {
	*front

	pods    []recorded
	plays   chan play
	changes *int // made or played so far
}

// play is the content of one watch of pods: n changes, numbered from first.
type play struct {
	first, n int
	rate     int          // a second; 0: as fast as they are taken
	sent     func(n int)  // called just before each change
	done     chan<- error // gets one value
}

func (b *bench) newReplay(ctx context.Context) *replay {
	r := &replay{plays: make(chan play), changes: b.changes, pods: record(ctx, b.plane.Config())}
	r.front = newFront(b.plane, "replay", r)
	return r
}

// ServeHTTP serves the played changes to watches of pods, and forwards other requests to
// the API server.
func (r *replay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	watches, _ := strconv.ParseBool(query.Get("watch"))
	if !watches || request.URL.Path != pods.listPath() {
		r.forward.ServeHTTP(w, request)
		return
	}
	version, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	if err != nil {
		http.Error(w, "this watch has to begin at a version", http.StatusBadRequest)
		return
	}
	appendTo, contentType := (*recorded).appendEvent, "application/json"
	if strings.HasPrefix(request.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		appendTo, contentType = (*recorded).appendFrame, runtime.ContentTypeProtobuf+";stream=watch"
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // a closed connection is noticed below
	for {
		select {
		case p := <-r.plays:
			p.done <- r.write(request.Context(), w, p, version, appendTo)
			version += uint64(p.n)
		case <-request.Context().Done():
			return
		}
	}
}

// write writes the events of a play, each when it is due.
func (r *replay) write(ctx context.Context, w http.ResponseWriter, p play, version uint64, appendTo func(r *recorded, to []byte, version uint64, n int) []byte) error {
	out := http.NewResponseController(w)
	started := time.Now()
	var event []byte
	for i := range p.n {
		if p.rate > 0 {
			if due := started.Add(time.Duration(i) * time.Second / time.Duration(p.rate)); time.Until(due) > 0 {
				if err := errors.Join(out.Flush(), wait(ctx, time.Until(due))); err != nil {
					return fmt.Errorf("replay: %w", err)
				}
			}
		}
		n := p.first + i
		event = appendTo(&r.pods[n*7919%len(r.pods)], event[:0], version+uint64(i)+1, n)
		p.sent(n)
		if _, err := w.Write(event); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
	}
	return out.Flush()
}

// play sends n changes to the only watch of pods, and returns the number of
// the first when all have been written.
func (r *replay) play(ctx context.Context, n, rate int, sent func(n int)) (first int) {
	first = *r.changes + 1
	*r.changes += n
	done := make(chan error, 1)
	select {
	case r.plays <- play{first: first, n: n, rate: rate, sent: sent, done: done}:
	case <-ctx.Done():
		must.Do(context.Cause(ctx))
	}
	// Writing ends with the connection, which ends with the measured program.
	must.Do(<-done)
	return first
}
