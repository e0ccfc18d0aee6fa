package agent

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// scheme and revisionsKey are names of the protocol's resources and of metadata in answers.
const (
	scheme       = "graphview"
	revisionsKey = "graphview.dev/revisions"
)

// Follow calls changed for each revision of a graph, the first one included, until ctx ends.
type Follow func(ctx context.Context, namespace, graph string, changed func()) error

// resources are the problems of graphs, as resources graphview://NAMESPACE/GRAPH.
type resources struct {
	run    Run
	follow Follow
	server *mcp.Server
	ctx    context.Context //nolint:containedctx // a subscription lasts until the server ends

	running sync.WaitGroup

	mu       sync.Mutex
	followed map[string]context.CancelFunc // by URI
}

// graphOf returns the graph of a URI.
func graphOf(uri string) (namespace, graph string, err error) {
	of, err := url.Parse(uri)
	if err == nil && (of.Scheme != scheme || of.Host == "" || strings.Trim(of.Path, "/") == "" || strings.Count(of.Path, "/") != 1) {
		err = fmt.Errorf("%q is no resource: write %s://NAMESPACE/GRAPH, as the tool graphs lists them", uri, scheme)
	}
	if err != nil {
		return "", "", err
	}
	return of.Host, of.Path[1:], nil
}

func (r *resources) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	namespace, graph, err := graphOf(uri)
	if err != nil {
		return nil, err
	}
	text, revisions, err := r.run(ctx, problems{scope{Namespace: namespace}, graph}.args())
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: shortened(text), Meta: metaOf(revisions)}}}, nil
}

func (r *resources) subscribe(_ context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	namespace, graph, err := graphOf(uri)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.followed[uri] != nil {
		return nil
	}
	ctx, stop := context.WithCancel(r.ctx)
	r.followed[uri] = stop
	changes := make(chan struct{}, 1)
	changed := func() {
		select {
		case changes <- struct{}{}:
		default: // a notification is due anyway
		}
	}
	r.running.Go(func() {
		defer close(changes)
		_ = r.follow(ctx, namespace, graph, changed) // a read says what is wrong
		r.mu.Lock()
		defer r.mu.Unlock()
		if ctx.Err() == nil {
			delete(r.followed, uri) // the agent may subscribe again
			changed()
		}
	})
	r.running.Go(func() {
		defer stop()
		r.notify(ctx, uri, changes)
	})
	return nil
}

// settles is the least time from a change to its notification. An answer to a new subscriber may be a second old
// (docs/stream.md), so an agent that reads at once could miss the change. It is also the most often that an agent is notified.
const settles = 1100 * time.Millisecond

// notify tells the agent of changes until ctx ends, or there are no more.
func (r *resources) notify(ctx context.Context, uri string, changes <-chan struct{}) {
	for {
		select {
		case _, more := <-changes:
			if !more {
				return
			}
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(settles):
		case <-ctx.Done():
			return
		}
		_ = r.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}) // the agent may have gone
	}
}

func (r *resources) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stop := r.followed[req.Params.URI]; stop != nil {
		stop()
		delete(r.followed, req.Params.URI)
	}
	return nil
}

// metaOf returns the revisions of the graphs that an answer was made from, by name. Equal revisions mean that
// nothing has changed.
func metaOf(revisions map[string]string) mcp.Meta {
	if len(revisions) == 0 {
		return nil
	}
	return mcp.Meta{revisionsKey: revisions}
}
