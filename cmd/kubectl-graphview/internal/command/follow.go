package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"graphview.dev/api/reason"
	"graphview.dev/client"
)

// view is the graph of a command.
type view struct {
	*cli
	namespace, name string
	config          *rest.Config // the user's, also with --local
	client          *client.Client
	// everywhere reports whether the command asks for the graphs of all namespaces.
	everywhere bool
}

// open resolves the server and the namespace without a request.
func (c *cli) open(name string) (*view, error) {
	namespace, err := c.namespace()
	if err != nil {
		return nil, err
	}
	config, err := c.restConfig()
	if err != nil {
		return nil, err
	}
	served := config
	if c.link != "" {
		served = client.ForMember(config, c.link)
	}
	if c.local.serves() {
		namespace, served = c.local.view.Namespace, c.local.cluster.Config()
	}
	reader, err := client.New(served)
	if err != nil {
		return nil, err
	}
	return &view{cli: c, namespace: namespace, name: name, config: config, client: reader}, nil
}

// restConfig returns the configuration of the kubeconfig's API server, or of the server in memory for manifests.
func (c *cli) restConfig() (*rest.Config, error) {
	if c.local.manifests != nil {
		return c.local.manifests.Config(), nil
	}
	return c.config.ToRESTConfig()
}

// namespace returns the namespace of objects that name none.
func (c *cli) namespace() (string, error) {
	if c.local.manifests != nil {
		return cmp.Or(ptr.Deref(c.config.Namespace, ""), "default"), nil
	}
	namespace, _, err := c.config.ToRawKubeConfigLoader().Namespace()
	return namespace, err
}

func (v *view) close() { v.client.CloseIdleConnections() }

// String returns the name of the graph for messages.
func (v *view) String() string {
	switch {
	case v.name == "":
		return "the query"
	case v.cli != nil && v.local.manifests != nil:
		return "the manifests"
	}
	return v.namespace + "/" + v.name
}

// follower is a subscription whose waits and errors are printed.
type follower struct {
	*client.Subscription
	view     *view
	narrowed bool      // to a part of the view
	since    time.Time // the begin of the wait for a server
	begun    bool      // a message has come
	said     string    // the last reason for a pause
	progress *progress
}

// followSummaries subscribes to the view, with summaries of its objects.
func (v *view) followSummaries() *follower { return v.followPart(client.ContentSummary, nil) }

// followPart subscribes to a part of the view, nil for all of it.
func (v *view) followPart(content client.Content, part *client.Narrow) *follower {
	f := v.newFollower()
	f.narrowed = part != nil
	f.Subscription = v.client.Watch(v.namespace, v.name, client.Options{OnRetry: f.retry, Content: content, ExcludeInferred: !v.inferred, Narrow: part})
	return f
}

// request subscribes to an ad-hoc view.
func (v *view) request(r client.Spec, content client.Content) *follower {
	f := v.newFollower()
	f.Subscription = v.client.Request(r, client.Options{OnRetry: f.retry, Content: content, ExcludeInferred: !v.inferred})
	return f
}

func (v *view) newFollower() *follower {
	return &follower{view: v, since: time.Now(), progress: newProgress(v)}
}

// retry prints the reason for a pause. A server that was never reachable is not retried; one
// that is not ready is, for a while. A part that is too large stays too large.
func (f *follower) retry(err error, pause time.Duration) error {
	if closed, ok := errors.AsType[*client.CloseError](err); ok && f.narrowed && closed.Reason == reason.LimitExceeded {
		return err
	}
	if !f.begun {
		if _, ok := errors.AsType[*apierrors.StatusError](err); !ok {
			return err
		}
		limit, text := f.view.wait, errorText(err)
		if operatorAway(err) {
			text = "the API server does not reach the operator"
			if !f.view.waits {
				limit = min(limit, unreachedFor)
			}
		}
		if time.Since(f.since)+pause > limit {
			return err
		}
		f.say(text)
		return nil
	}
	f.say(errorText(err))
	return nil
}

// unreachedFor is how long a command waits for an operator that the API server does not reach, without --wait.
const unreachedFor = 5 * time.Second

// say prints a reason for a pause once.
func (f *follower) say(text string) {
	if text != f.said {
		f.said = text
		f.progress.sayf("%s; trying again", text)
	}
}

// receive returns the next message.
func (f *follower) receive(ctx context.Context) (*client.Received, error) {
	m, err := f.Receive(ctx)
	if err != nil {
		return nil, f.view.remedy(ctx, err)
	}
	f.begun, f.said = true, ""
	f.progress.vertices.Store(int64(len(f.Graph().Vertices)))
	return m, nil
}

var errWaited = errors.New("waited long enough")

// complete waits for the whole graph. After --wait it returns the part that has arrived, and an
// error.
func (f *follower) complete(ctx context.Context) (*client.Graph, error) {
	stop := f.progress.start(ctx)
	defer stop()
	waiting, cancel := context.WithTimeoutCause(ctx, f.view.wait, errWaited)
	defer cancel()
	for {
		m, err := f.receive(waiting)
		switch {
		case errors.Is(err, errWaited):
			return f.Graph(), fmt.Errorf("%s is not complete after %s%s", f.view, f.view.wait, f.progress.reason(ctx))
		case err != nil:
			return nil, err
		case f.Graph().Synced && m.Rev != "":
			f.view.readRevision(m.Rev)
			return f.Graph(), nil
		}
	}
}

// readRevision stores the revision of a graph that an answer is made from, if there is an agent to be told.
func (v *view) readRevision(revision string) {
	if v.revisions != nil {
		v.revisions.Store(v.namespace+"/"+v.name, revision)
	}
}

// completeOf returns the graph once it is complete, or the part that has arrived and the reason.
func completeOf(ctx context.Context, f *follower) (*client.Graph, error) {
	defer f.Close()
	return f.complete(ctx)
}
