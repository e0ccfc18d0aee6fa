package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream"
	"graphview.dev/stream/relay/holder"
	"graphview.dev/stream/relay/wire"
	"graphview.dev/stream/rights"
)

const (
	// maxGroups and maxUser bound the groups and the bytes of a user.
	maxGroups = 256
	maxUser   = 16 << 10
	// maxListing bounds a request for views in bytes.
	maxListing = 2 * maxUser
)

// ListPath is the path of requests for the views of the member.
const ListPath = wire.Path + "/list"

// Server decides about users and has their rights; see stream.Server.
type Server interface {
	Admit(ctx context.Context, who user.Info, verb string, view graphview.Name, end context.CancelCauseFunc) (*rights.Lease, func(), error)
	List(ctx context.Context, who user.Info, verb, namespace, name string) ([]stream.View, error)
}

// Options of a Gateway. All but Logger are required.
type Options struct {
	// Hub is the name of the hub.
	Hub string
	// Server decides, and Cluster has the views.
	Server  Server
	Cluster stream.Cluster
	// Run is that of this process, which the revisions of its views begin with.
	Run    string
	Logger logr.Logger
}

// Gateway answers the requests of a hub.
type Gateway struct {
	o      Options
	prefix string
	mux    *http.ServeMux
}

// New returns a Gateway.
func New(o Options) *Gateway {
	g := &Gateway{o: o, prefix: "hub:" + o.Hub + ":", mux: http.NewServeMux()}
	relays := holder.New(holder.Options{Views: views{o.Cluster}, Run: o.Run, Admit: g.admit, Logger: o.Logger})
	g.mux.Handle(wire.Pattern, relays)
	g.mux.HandleFunc("POST "+ListPath, g.serveList)
	return g
}

// ServeHTTP implements http.Handler. Requests other than those for views and their graphs
// are 404.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// userOf returns the user of this cluster for a user of the hub. The error is a
// *delivery.ClosedError.
func (g *Gateway) userOf(named wire.User) (user.Info, error) {
	size := len(named.Name)
	for _, group := range named.Groups {
		size += len(group)
	}
	switch {
	case named.Name == "":
		return nil, &delivery.ClosedError{Reason: reason.Forbidden, Message: "the hub names no user"}
	case len(named.Groups) > maxGroups || size > maxUser:
		return nil, &delivery.ClosedError{Reason: reason.Forbidden, Message: fmt.Sprintf("a user of a hub may have at most %d groups, and %d bytes of names", maxGroups, maxUser)}
	case named.Verb != "get" && named.Verb != "list" && named.Verb != "watch":
		return nil, &delivery.ClosedError{Reason: reason.Forbidden, Message: "a hub may get, list and watch graphs"}
	}
	who := &user.DefaultInfo{Name: g.prefix + named.Name, Groups: make([]string, 0, len(named.Groups))}
	for _, group := range named.Groups {
		who.Groups = append(who.Groups, g.prefix+group)
	}
	return who, nil
}

// admit implements holder.Admit.
func (g *Gateway) admit(ctx context.Context, name graphview.Name, named wire.User, end context.CancelCauseFunc) (holder.Admitted, error) {
	who, err := g.userOf(named)
	if err != nil {
		return holder.Admitted{}, err
	}
	lease, release, err := g.o.Server.Admit(ctx, who, named.Verb, name, end)
	if err != nil {
		return holder.Admitted{}, err
	}
	view, ok := g.o.Cluster.Find(name)
	if !ok {
		release()
		return holder.Admitted{}, errNotFound
	}
	if err := view.Err(); err != nil {
		release()
		return holder.Admitted{}, err
	}
	return holder.Admitted{Access: lease, Owner: lease.Owner(), Release: release}, nil
}

var errNotFound = &delivery.ClosedError{Reason: reason.NotFound, Message: "not found"}

func (g *Gateway) serveList(w http.ResponseWriter, r *http.Request) {
	var asked wire.Listing
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxListing)).Decode(&asked); err != nil {
		http.Error(w, "read the listing", http.StatusBadRequest)
		return
	}
	answer := wire.Listed{}
	items, err := g.list(r.Context(), asked)
	if err != nil {
		answer.Ended = endingOf(err)
	}
	answer.Items = items
	w.Header().Set("Content-Type", "application/json")
	// An error means that the hub has hung up.
	_ = json.NewEncoder(w).Encode(answer)
}

func (g *Gateway) list(ctx context.Context, asked wire.Listing) ([]wire.Item, error) {
	who, err := g.userOf(asked.User)
	if err != nil {
		return nil, err
	}
	found, err := g.o.Server.List(ctx, who, asked.User.Verb, asked.Namespace, asked.Name)
	if err != nil {
		return nil, err
	}
	items := make([]wire.Item, 0, len(found))
	for _, view := range found {
		name, status := view.Name(), view.Status()
		item := wire.Item{
			Namespace: name.Namespace, Name: name.Name, UID: view.UID(), Vertices: status.Vertices, Arcs: status.Arcs,
			Roots: status.Roots, Subscribers: status.Subscribers, Synced: status.Synced,
		}
		if err := view.Err(); err != nil {
			item.Refused = endingOf(err)
		}
		items = append(items, item)
	}
	return items, nil
}

// endingOf returns the reason for which a user is not served.
func endingOf(err error) *wire.Ending {
	closed, ok := errors.AsType[*delivery.ClosedError](err)
	if !ok {
		closed = &delivery.ClosedError{Reason: reason.Invalid, Message: err.Error()}
	}
	ending := wire.EndingOf(closed)
	return &ending
}
