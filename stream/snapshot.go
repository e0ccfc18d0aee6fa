package stream

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/rights"
	"graphview.dev/stream/transport"
)

// snapshot is a form in which a graph is sent once.
type snapshot struct {
	contentType string
	// patience is how long one write may take.
	patience time.Duration
	body     body
	what     delivery.SubscribeOptions
	// room, if set, waits until there is room for a graph, which has synced or has
	// not in time. It is to be given back. The error is a Status, or ctx's.
	room func(ctx context.Context, synced bool) (giveBack func(), err error)
}

// body puts a graph together from frames.
type body interface {
	// add takes the next frame, the last of which has a Rev, and sends what can be
	// sent by now.
	add(frame *delivery.Frame, send func(parts ...[]byte) error) error
}

// serveSnapshot answers with the graph as it is: one message that is also a
// Kubernetes object. It is written as its frames come, never gathered.
func (s *Server) serveSnapshot(w http.ResponseWriter, r *http.Request, view View) {
	what, err := wantedOf(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.sendSnapshot(w, r, view, snapshot{contentType: jsonType, patience: s.timing.write, body: newMessageBody(view), what: what})
}

// sendSnapshot answers with the graph in some form. Once that has begun, all
// that is left to do about an error is to cut it, which no client takes for a
// whole graph.
func (s *Server) sendSnapshot(w http.ResponseWriter, r *http.Request, view View, form snapshot) {
	who, _ := request.UserFrom(r.Context())
	stream, err := s.registry.reserve(r.Context(), who)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer stream.release()
	synced, err := s.waitSynced(stream.ctx, view)
	if err != nil {
		s.abandon(w, r, stream.ctx, view, err)
		return
	}
	if form.room != nil {
		giveBack, err := form.room(stream.ctx, synced)
		if refused, ok := errors.AsType[*apierrors.StatusError](err); ok {
			s.refuse(w, r, refused)
			return
		}
		if err != nil {
			s.abandon(w, r, stream.ctx, view, err)
			return
		}
		defer giveBack()
	}
	held := s.permissions.Acquire(stream.ctx, who, view.Name(), rights.Terms{End: stream.end})
	defer held.Release()
	form.what.Access, form.what.Owner = held, held.Owner()
	subscription := view.Subscribe(form.what)
	defer subscription.Close()
	within := startWithin
	if synced {
		within = s.options.SyncTimeout
	}
	frames, err := firstFrames(stream.ctx, subscription, within)
	if err != nil {
		s.abandon(w, r, stream.ctx, view, err)
		return
	}
	out, begun := transport.NewResponse(w), false
	send := func(parts ...[]byte) error {
		if !begun {
			begun = true
			w.Header().Set("Content-Type", form.contentType)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Cache-Control", "no-store")
		}
		// What was begun may still be finished while the server stops.
		ctx, cancel := context.WithTimeout(stream.hard, form.patience)
		defer cancel()
		return out.Write(ctx, parts...)
	}
	sending := writing{cut: out.Cut}
	for {
		done, err := s.addFrames(form.body, frames, &sending, send)
		if done {
			return
		}
		if err == nil {
			frames, err = subscription.Next(stream.hard)
		}
		switch {
		case err == nil:
		case begun:
			s.options.Logger.V(1).Info("graph cut short", "view", view.Name().String(), "cause", err.Error())
			panic(http.ErrAbortHandler)
		default:
			s.abandon(w, r, stream.ctx, view, err)
			return
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

func firstFrames(ctx context.Context, subscription Subscription, within time.Duration) ([]*delivery.Frame, error) {
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	frames, err := subscription.Next(waiting)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, &delivery.ClosedError{Reason: reason.Unavailable, Message: "there is no graph to send yet; try again later"}
	}
	return frames, err
}

// abandon answers a get that came to nothing.
func (s *Server) abandon(w http.ResponseWriter, r *http.Request, ctx context.Context, view View, err error) {
	if closed := s.why(ctx, view.Name(), err); closed != nil {
		s.refuse(w, r, refusal(view.Name(), closed))
	}
}

// addFrames returns that the graph is done, or an error, or neither.
func (s *Server) addFrames(to body, frames []*delivery.Frame, w *writing, send func(...[]byte) error) (done bool, err error) {
	for _, frame := range frames {
		s.unsent.begin(w, frame)
		err := to.add(frame, send)
		s.unsent.end(w)
		if err != nil || frame.Rev != "" {
			return err == nil, err
		}
	}
	return false, nil
}

var errReset = errors.New("the graph was reset while it was being sent")

// messageBody joins the frames of a graph to one message. Warnings follow the
// actions, so those of all frames are kept till then; there are few.
type messageBody struct {
	begun    bool
	head     []byte
	warnings [][]byte
	kinds    []byte
}

func newMessageBody(view View) *messageBody {
	head := encode(objectOf(view))
	head = append(head[:len(head)-1], `,"actions":[`...)
	return &messageBody{head: head}
}

func (b *messageBody) add(frame *delivery.Frame, send func(...[]byte) error) error {
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
	if len(frame.Kinds) > 0 {
		b.kinds = frame.Kinds
	}
	if frame.Rev != "" {
		parts = append(parts, b.tail(frame)...)
	}
	return send(parts...)
}

func (b *messageBody) tail(last *delivery.Frame) [][]byte {
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
	if len(b.kinds) > 0 {
		parts = append(parts, []byte(`],"kinds":[`), b.kinds)
	}
	return append(parts, []byte("],"), end[1:], []byte("\n"))
}
