package stream

import (
	"context"
	"errors"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/rights"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/names"
	"graphview.dev/stream/transport"
)

// snapshot is a form in which a graph is sent once.
type snapshot struct {
	contentType string
	// writeTimeout bounds one write.
	writeTimeout time.Duration
	body         body
	options      delivery.SubscribeOptions
	// at is the time of a graph of the past, in microseconds since 1970, 0 for the present one.
	at int64
	// room, if set, waits for memory for the graph. synced says whether the view has synced
	// or the wait for it timed out. The error is a Status, or ctx's.
	room func(ctx context.Context, synced bool) (release func(), err error)
}

// body assembles a graph from frames.
type body interface {
	// add adds the next frame and sends the complete pieces. The last frame has a Rev.
	add(frame *delivery.Frame, send func(parts ...[]byte) error) error
}

// serveSnapshot answers with the graph as it is now: one message that is also a Kubernetes
// object. It writes frame by frame and never holds the whole graph.
func (s *Server) serveSnapshot(w http.ResponseWriter, r *http.Request, name names.GraphName) error {
	options, err := parseOnce(r)
	if err != nil {
		return err
	}
	at, err := parseAt(r, &options)
	if err != nil {
		return err
	}
	if at != 0 { // the changes since then are in memory, as an export is
		who, _ := request.UserFrom(r.Context())
		giveBack, err := s.takeExport(budget.UserOwner(who))
		if err != nil {
			return notAdmitted(err)
		}
		defer giveBack()
	}
	return s.sendSnapshot(w, r, name, func(view View) snapshot {
		body := newMessageBody(view, options.Only)
		body.at = at
		form := snapshot{contentType: jsonType, writeTimeout: s.timing.write, body: body, options: options, at: at}
		if at != 0 {
			form.room = func(ctx context.Context, synced bool) (func(), error) { return s.exportRoom(ctx, view, synced) }
		}
		return form
	})
}

// sendSnapshot answers with the graph in some form. An error after the first byte cuts the
// connection, so that no client takes the answer for a whole graph.
func (s *Server) sendSnapshot(w http.ResponseWriter, r *http.Request, name names.GraphName, formOf func(View) snapshot) error {
	stream, view, synced, err := s.beginGet(r, name)
	if stream == nil {
		return err
	}
	defer stream.Release()
	form := formOf(view)
	if form.room != nil {
		release, err := form.room(stream.Ctx, synced)
		if err != nil {
			return s.failure(stream.Ctx, name, err)
		}
		defer release()
	}
	if form.at != 0 {
		if err := setPast(view, form.at, &form.options); err != nil {
			return err
		}
	}
	who, _ := request.UserFrom(r.Context())
	graph, err := s.open(stream.Ctx, who, &opening{name: name, view: view, terms: rights.Terms{End: stream.End}, subscribe: &form.options})
	if err != nil {
		return s.failure(stream.Ctx, name, err)
	}
	defer graph.Close()
	within := startWithin
	if synced {
		within = s.options.SyncTimeout
	}
	frames, err := firstFrames(stream.Ctx, graph, within)
	if err != nil {
		return s.failure(stream.Ctx, name, err)
	}
	out, begun := transport.NewResponse(w), false
	send := func(parts ...[]byte) error {
		if !begun {
			begun = true
			w.Header().Set("Content-Type", form.contentType)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Cache-Control", "no-store")
		}
		// An answer that has begun may be completed while the server stops.
		ctx, cancel := context.WithTimeout(stream.Hard, form.writeTimeout)
		defer cancel()
		return out.Write(ctx, parts...)
	}
	pending := admission.PendingWrite{Cut: out.Cut}
	for {
		done, err := s.addFrames(form.body, frames, &pending, send)
		if done {
			return nil
		}
		if err == nil {
			frames, err = graph.Next(stream.Hard)
		}
		switch {
		case err == nil:
		case begun:
			s.options.Logger.V(1).Info("graph cut short", "view", name.String(), "cause", err.Error())
			panic(http.ErrAbortHandler)
		default:
			return s.failure(stream.Ctx, name, err)
		}
	}
}

// beginGet finds a view, makes room for one answer, and waits for the view to sync, which
// may time out. The caller releases the stream. Without a stream the error is a Status, or nil if the
// client has left.
func (s *Server) beginGet(r *http.Request, name names.GraphName) (stream *admission.Stream, view View, synced bool, err error) {
	view, err = s.find(name)
	if err != nil {
		return nil, nil, false, refusal(name, err)
	}
	who, _ := request.UserFrom(r.Context())
	stream, err = s.reserve(r.Context(), who)
	if err != nil {
		return nil, nil, false, err
	}
	synced, err = s.waitSynced(stream.Ctx, view)
	if err != nil {
		defer stream.Release()
		return nil, nil, false, s.failure(stream.Ctx, name, err)
	}
	return stream, view, synced, nil
}

// waitSynced waits for the view up to SyncTimeout, and reports whether it has synced.
func (s *Server) waitSynced(ctx context.Context, view View) (bool, error) {
	waiting, cancel := context.WithTimeout(ctx, s.options.SyncTimeout)
	defer cancel()
	err := view.WaitSynced(waiting)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// startWithin bounds how long a get waits for the first graph of a view that has not synced
// in time: the view may not know yet which resources to watch. For a view that has synced,
// only the questions about the user's rights take long.
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

// addFrames reports whether the graph is complete.
func (s *Server) addFrames(to body, frames []*delivery.Frame, w *admission.PendingWrite, send func(...[]byte) error) (done bool, err error) {
	for _, frame := range frames {
		s.writes.Begin(w, frame)
		err := to.add(frame, send)
		s.writes.End(w)
		if err != nil || frame.Rev != "" {
			return err == nil, err
		}
	}
	return false, nil
}

var errReset = errors.New("the graph was reset while it was being sent")

// messageBody joins the frames of a graph into one message. Warnings follow the actions,
// so the few warnings of all frames are held until then.
type messageBody struct {
	begun    bool
	head     []byte
	warnings [][]byte
	kinds    []byte
	at       int64          // of a graph of the past
	only     *graph.Notable // nil for all vertices
}

// newMessageBody returns the body of the graph of a view, or of the vertices of it that only selects.
func newMessageBody(view View, only *graph.Notable) *messageBody {
	head := encode(headOf(view, kind))
	head = append(head[:len(head)-1], `,"actions":[`...)
	return &messageBody{head: head, only: only}
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
	var at *metav1.MicroTime
	if b.at != 0 {
		at = new(microTime(b.at))
	}
	passed := 0
	if b.only != nil {
		passed = b.only.Passed
	}
	end := encode(struct {
		Rev    string            `json:"rev"`
		Synced bool              `json:"synced,omitempty"`
		At     *metav1.MicroTime `json:"at,omitempty"`
		Passed int               `json:"passed,omitempty"`
	}{last.Rev, last.Synced, at, passed})
	if len(b.kinds) > 0 {
		parts = append(parts, []byte(`],"kinds":[`), b.kinds)
	}
	return append(parts, []byte("],"), end[1:], []byte("\n"))
}
