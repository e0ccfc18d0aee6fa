package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/health"
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
	owner := budget.UserOwner(who)
	if err := s.exports.Owners.Take(owner, 1); err != nil {
		return notAdmitted(err)
	}
	defer s.exports.Owners.Give(owner, 1)
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
	if err := eachElement(frame.Actions, b.act); err != nil {
		return fmt.Errorf("actions: %w", err)
	}
	if err := eachElement(frame.Warnings, b.warn); err != nil {
		return fmt.Errorf("warnings: %w", err)
	}
	if frame.Rev == "" {
		return nil
	}
	b.graph.Incomplete = !frame.Synced
	return b.graph.Write(sender(send), b.format)
}

// exported is an action of a graph that is sent from the beginning, with summaries. The
// members of keys are in the order of format.Key.
type exported struct {
	SetVertex *struct {
		Vertex  exportedKey `json:"vx"`
		Summary struct {
			Health  health.State `json:"h"`
			Overdue int64        `json:"od"`
		} `json:"m"`
	} `json:"svx"`
	SetArc *readArc `json:"sarc"`
}

type exportedKey struct {
	Group     string `json:"g"`
	Version   string `json:"v"`
	Resource  string `json:"r"`
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"n"`
}

func (b *exportBody) act(action exported) error {
	switch {
	case action.SetVertex != nil:
		summary := action.SetVertex.Summary
		how := health.Health{State: summary.Health, Overdue: summary.Overdue}.At(b.now)
		b.graph.AddVertex(format.Key(action.SetVertex.Vertex), string(how.State))
	case action.SetArc != nil:
		arc := action.SetArc
		b.graph.AddArc(format.Arc{
			From: format.Key(arc.From), To: format.Key(arc.To), Type: arc.Type, Fields: arc.Attributes.Fields, Words: arc.Attributes.Words,
			Controller: arc.Attributes.Controller, BlockOwnerDeletion: arc.Attributes.Blocking, Missing: arc.Attributes.Missing,
			Outside: arc.Attributes.Outside, Optional: arc.Attributes.Optional,
		})
	default:
		return errors.New("neither a vertex nor an arc is set")
	}
	return nil
}

type exportedWarning struct {
	Type    string `json:"t"`
	Message string `json:"m"`
}

func (b *exportBody) warn(w exportedWarning) error {
	b.graph.AddWarning(format.Warning(w))
	return nil
}

// eachElement decodes the elements of a frame's array one by one.
func eachElement[T any](elements []byte, each func(T) error) error {
	decoder := jsontext.NewDecoder(io.MultiReader(
		bytes.NewReader([]byte("[")), bytes.NewReader(elements), bytes.NewReader([]byte("]"))))
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	for decoder.PeekKind() != ']' {
		var element T
		if err := json.UnmarshalDecode(decoder, &element); err != nil {
			return err
		}
		if err := each(element); err != nil {
			return err
		}
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
