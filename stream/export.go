package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/format"
	"graphview.dev/stream/names"
)

// exportWriteTimeout bounds how long a reader takes for a piece of an export, which holds
// memory that other exports wait for.
const exportWriteTimeout = time.Minute

// serveExport answers with the graph as a text for another program.
func (s *Server) serveExport(w http.ResponseWriter, r *http.Request, name names.GraphName, f format.Format) error {
	options, err := parseOptions(r)
	if err != nil {
		return err
	}
	options.Content = delivery.SummaryOnly
	who, _ := request.UserFrom(r.Context())
	giveBack, err := s.takeExport(budget.UserOwner(who))
	if err != nil {
		return notAdmitted(err)
	}
	defer giveBack()
	return s.sendSnapshot(w, r, name, func(view View) snapshot {
		return snapshot{
			options:     options,
			contentType: f.MediaType() + "; charset=utf-8", writeTimeout: exportWriteTimeout,
			body: &exportBody{format: f, graph: format.Graph{Namespace: name.Namespace, Name: name.Name}, now: time.Now()},
			room: func(ctx context.Context, synced bool) (func(), error) { return s.exportRoom(ctx, view, synced) },
		}
	})
}

// exportRoom waits for room for a graph, whose size is known once it has synced. The error
// is a Status, or ctx's.
func (s *Server) exportRoom(ctx context.Context, view View, synced bool) (release func(), err error) {
	size := int64(admission.ExportRoom)
	if synced {
		status := view.Status()
		size = admission.ExportSize(status.Vertices, status.Arcs)
	}
	waiting, cancel := context.WithTimeout(ctx, s.options.SyncTimeout)
	defer cancel()
	if err := s.exports.Room.Acquire(waiting, size); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, apierrors.NewTooManyRequests("too many graphs are being exported, try again later, or as json", 5)
	}
	return func() { s.exports.Room.Release(size) }, nil
}

// exportBody collects the names of a graph and sends nothing before the graph is complete.
type exportBody struct {
	format format.Format
	graph  format.Graph
	now    time.Time
}

func (b *exportBody) add(frame *delivery.Frame, send func(...[]byte) error) error {
	if frame.Reset {
		b.graph = format.Graph{Namespace: b.graph.Namespace, Name: b.graph.Name}
	}
	m, err := messageOf(frame)
	if err != nil {
		return err
	}
	for i := range m.Actions {
		if err := b.act(&m.Actions[i]); err != nil {
			return fmt.Errorf("actions: %w", err)
		}
	}
	for _, w := range m.Warnings {
		b.graph.AddWarning(format.Warning{Type: w.Type, Message: w.Message})
	}
	if frame.Rev == "" {
		return nil
	}
	b.graph.Incomplete = !frame.Synced
	return b.graph.Write(sender(send), b.format)
}

// act applies an action of a graph that is sent from the beginning, with summaries.
func (b *exportBody) act(action *streamv1alpha1.Action) error {
	switch {
	case action.SetVertex != nil:
		health := ""
		if action.SetVertex.Summary != nil {
			health, _ = action.SetVertex.Summary.HealthAt(b.now)
		}
		b.graph.AddVertex(format.Key(action.SetVertex.Key), health)
	case action.SetArc != nil:
		arc, a := action.SetArc, &action.SetArc.Attributes
		b.graph.AddArc(format.Arc{
			From: format.Key(arc.From), To: format.Key(arc.To), Type: string(arc.Type), Fields: a.Fields, Words: a.Words,
			Controller: a.Controller, BlockOwnerDeletion: a.BlockOwnerDeletion, Missing: a.Missing,
			Outside: string(a.Outside), Optional: a.Optional,
		})
	default:
		return errors.New("neither a vertex nor an arc is set")
	}
	return nil
}

// sender is an io.Writer.
type sender func(parts ...[]byte) error

func (send sender) Write(piece []byte) (int, error) {
	if err := send(piece); err != nil {
		return 0, err
	}
	return len(piece), nil
}
