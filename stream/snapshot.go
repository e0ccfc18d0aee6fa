package stream

import (
	"context"
	"errors"
	"net/http"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview"
)

// serveSnapshot answers with the graph as it is: one message that is also a
// Kubernetes object. It is written as its frames come, never gathered; so once
// it has begun, all that is left to do about an error is to cut it, which no
// client takes for a whole graph.
func (s *Server) serveSnapshot(w http.ResponseWriter, r *http.Request, view View) {
	one, err := s.open.admit(r.Context())
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer one.leave()
	synced, err := s.waitSynced(one.ctx, view)
	if err != nil {
		s.abandon(w, r, one.ctx, view, err)
		return
	}
	who, _ := request.UserFrom(r.Context())
	held := s.permissions.acquire(one.ctx, who, view.Name(), tenancy{end: one.end})
	defer held.release()
	subscription := view.Subscribe("", held)
	defer subscription.Close()
	within := startWithin
	if synced {
		within = s.options.SyncTimeout
	}
	frames, err := firstFrames(one.ctx, subscription, within)
	if err != nil {
		s.abandon(w, r, one.ctx, view, err)
		return
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	body := newSnapshotBody(w, view)
	for {
		done, err := s.writeSnapshot(one.hard, body, frames)
		if done {
			return
		}
		if err == nil {
			// What was begun may still be finished while the server stops.
			frames, err = subscription.Next(one.hard)
		}
		if err != nil {
			s.options.Logger.V(1).Info("graph cut short", "view", view.Name().String(), "cause", err.Error())
			panic(http.ErrAbortHandler)
		}
	}
}

// waitSynced waits for the view, but not for ever, and tells whether it synced.
func (s *Server) waitSynced(ctx context.Context, view View) (bool, error) {
	waiting, cancel := context.WithTimeout(ctx, s.options.SyncTimeout)
	defer cancel()
	err := view.WaitSynced(waiting)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// startWithin bounds how long a get waits for a view that has not synced in time
// to have a graph at all: it may not even know what to watch yet. With one that
// has synced, all that can take long is to learn what somebody may see of it.
const startWithin = 2 * time.Second

func firstFrames(ctx context.Context, subscription Subscription, within time.Duration) ([]*graphview.Frame, error) {
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	frames, err := subscription.Next(waiting)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, &graphview.ClosedError{Code: graphview.CodeLimit, Reason: "there is no graph to send yet; try again later"}
	}
	return frames, err
}

// abandon answers a get that came to nothing.
func (s *Server) abandon(w http.ResponseWriter, r *http.Request, ctx context.Context, view View, err error) {
	if closed := s.why(ctx, view.Name(), err); closed != nil {
		s.refuse(w, r, refusal(view.Name(), closed))
	}
}

func (s *Server) writeSnapshot(ctx context.Context, body *snapshotBody, frames []*graphview.Frame) (done bool, err error) {
	for _, frame := range frames {
		ctx, cancel := context.WithTimeout(ctx, s.timing.write)
		err := body.add(ctx, frame)
		cancel()
		if err != nil || frame.Rev != "" {
			return err == nil, err
		}
	}
	return false, nil
}

var errReset = errors.New("the graph was reset while it was being sent")

// snapshotBody joins the frames of a graph to one message. Warnings follow the
// actions, so those of all frames are kept till then; there are few.
type snapshotBody struct {
	response
	begun    bool
	head     []byte
	warnings [][]byte
}

func newSnapshotBody(w http.ResponseWriter, view View) *snapshotBody {
	head := encode(objectOf(view))
	head = append(head[:len(head)-1], `,"actions":[`...)
	return &snapshotBody{response: newResponse(w), head: head}
}

func (b *snapshotBody) add(ctx context.Context, frame *graphview.Frame) error {
	var parts [][]byte
	if b.head != nil {
		parts, b.head = append(parts, b.head), nil
	} else if frame.Reset {
		return errReset
	}
	if len(frame.Actions) > 0 {
		if b.begun {
			parts = append(parts, []byte(","))
		}
		b.begun = true
		parts = append(parts, frame.Actions)
	}
	if len(frame.Warnings) > 0 {
		b.warnings = append(b.warnings, frame.Warnings)
	}
	if frame.Rev != "" {
		parts = append(parts, b.tail(frame)...)
	}
	return b.write(ctx, parts...)
}

func (b *snapshotBody) tail(last *graphview.Frame) [][]byte {
	parts := [][]byte{[]byte(`],"warnings":[`)}
	for i, warnings := range b.warnings {
		if i > 0 {
			parts = append(parts, []byte(","))
		}
		parts = append(parts, warnings)
	}
	end := encode(struct {
		Rev    string `json:"rev"`
		Synced bool   `json:"synced,omitempty"`
	}{last.Rev, last.Synced})
	return append(parts, []byte("],"), end[1:], []byte("\n"))
}
