package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
)

const jsonType = "application/json"

// Get returns the current graph. The server waits until the graph is complete, up to a limit; Synced reports whether it is complete. Options.From continues from it. An error of the
// server is a Kubernetes Status (see package k8s.io/apimachinery/pkg/api/errors).
func (c *Client) Get(ctx context.Context, namespace, name string) (*Graph, error) {
	return c.Snapshot(ctx, namespace, name, Options{})
}

// Summaries is Get with a Summary in place of each object, which is a fraction of its
// size.
func (c *Client) Summaries(ctx context.Context, namespace, name string) (*Graph, error) {
	return c.Snapshot(ctx, namespace, name, Options{Content: ContentSummary})
}

// Part is Get of a part of a graph, with that content of each object.
func (c *Client) Part(ctx context.Context, namespace, name string, n Narrow, content Content) (*Graph, error) {
	return c.Snapshot(ctx, namespace, name, Options{Content: content, Narrow: &n})
}

// Snapshot is Get with the options Content, ExcludeInferred, Narrow and At; the other options have no
// effect. A subscription with the same first three options continues from it, unless At is set.
func (c *Client) Snapshot(ctx context.Context, namespace, name string, o Options) (*Graph, error) {
	m, err := c.message(ctx, namespace, name, o)
	if err != nil {
		return nil, err
	}
	g := &Graph{}
	g.Apply(&m.Message)
	if o.At == "" {
		return g, nil
	}
	if m.at == nil {
		return nil, errOlder
	}
	g.At = m.at.Time
	return g, nil
}

// graphMessage is a graph as one message, with the members that messages of a stream lack.
type graphMessage struct {
	Received

	at     *metav1.MicroTime
	passed int
}

// message returns the graph as one message.
func (c *Client) message(ctx context.Context, namespace, name string, o Options) (*graphMessage, error) {
	body, err := c.get(ctx, c.url(o.query(), "namespaces", namespace, "graphs", name), jsonType)
	if err != nil {
		return nil, fmt.Errorf("get graph %s/%s: %w", namespace, name, err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("get graph %s/%s: %w", namespace, name, err)
	}
	var read struct {
		Message

		At     *metav1.MicroTime `json:"at"`
		Passed int               `json:"passed"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("get graph %s/%s: parse message: %w", namespace, name, err)
	}
	m := &graphMessage{Received{Message: read.Message, JSON: text}, read.At, read.Passed}
	if o.ExcludeInferred {
		err = m.excludeInferred(&Graph{})
	}
	if err != nil {
		return nil, fmt.Errorf("get graph %s/%s: %w", namespace, name, err)
	}
	return m, nil
}

// Export copies the present graph in a format of the server: json, dot,
// mermaid, graphml. The options are those of Snapshot; Content and ExcludeInferred are for json.
func (c *Client) Export(ctx context.Context, namespace, name, format string, o Options, to io.Writer) error {
	if o.ExcludeInferred && format == "json" {
		m, err := c.message(ctx, namespace, name, o)
		if err == nil {
			_, err = to.Write(append(m.JSON, '\n'))
		}
		return err
	}
	if o.ExcludeInferred {
		return fmt.Errorf("get graph %s/%s as %s: the server leaves no inferred references out of this format", namespace, name, format)
	}
	query := o.query()
	query.Set("format", format)
	at := c.url(query, "namespaces", namespace, "graphs", name)
	body, err := c.get(ctx, at, "*/*")
	if err != nil {
		return fmt.Errorf("get graph %s/%s as %s: %w", namespace, name, format, err)
	}
	defer body.Close()
	if _, err := io.Copy(to, body); err != nil {
		return fmt.Errorf("get graph %s/%s as %s: %w", namespace, name, format, err)
	}
	return nil
}

// Listed is a graph in a list. The counts are those of the view, with the objects that the user
// may not see.
type Listed struct {
	Namespace, Name                    string
	Vertices, Arcs, Roots, Subscribers int
	Synced                             bool
	// Ineffective says which parts of the GraphView have no effect. Nil: the user may not get
	// the GraphViews of the list, or it is not known yet.
	Ineffective *string
}

// List returns the graphs of a namespace; "" is all namespaces.
func (c *Client) List(ctx context.Context, namespace string) ([]Listed, error) {
	segments := []string{"graphs"}
	if namespace != "" {
		segments = []string{"namespaces", namespace, "graphs"}
	}
	var list streamv1alpha1.GraphList
	if err := c.getAnswer(ctx, c.url(nil, segments...), &list); err != nil {
		return nil, fmt.Errorf("list graphs: %w", err)
	}
	graphs := make([]Listed, 0, len(list.Items))
	for i := range list.Items {
		item := &list.Items[i]
		listed := Listed{Synced: item.Synced}
		if item.Metadata != nil {
			listed.Namespace, listed.Name = item.Metadata.Namespace, item.Metadata.Name
		}
		if counts := item.Counts; counts != nil {
			listed.Vertices, listed.Arcs, listed.Roots, listed.Subscribers = counts.Vertices, counts.Arcs, counts.Roots, counts.Subscribers
			listed.Ineffective = counts.Ineffective
		}
		graphs = append(graphs, listed)
	}
	return graphs, nil
}

// ServerVersion returns the version of the operator that serves the graphs, such as v1.2.3; "" if the
// operator is too old to report it.
func (c *Client) ServerVersion(ctx context.Context) (string, error) {
	response, err := c.ask(ctx, c.base.JoinPath(groupPath).String(), jsonType)
	if err != nil {
		return "", fmt.Errorf("version: %w", err)
	}
	defer response.Body.Close()
	// Read to its end, as in getAnswer.
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return "", fmt.Errorf("version: %w", err)
	}
	return response.Header.Get("Graphview-Version"), nil
}

// getAnswer decodes a good answer, and returns the Status of any other.
func (c *Client) getAnswer(ctx context.Context, at string, answer any) error {
	body, err := c.get(ctx, at, jsonType)
	if err != nil {
		return err
	}
	defer body.Close()
	in := json.NewDecoder(body)
	if err := in.Decode(answer); err != nil {
		return fmt.Errorf("parse the answer of %s: %w", at, err)
	}
	// A connection whose answer has been read to its end is kept, and a proxy does not see a request that is cancelled.
	switch _, err := in.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return fmt.Errorf("parse the answer of %s: %w", at, err)
	default:
		return fmt.Errorf("parse the answer of %s: more than one JSON value", at)
	}
}

// get returns the body of a good answer, and the Status of any other.
func (c *Client) get(ctx context.Context, at, accept string) (io.ReadCloser, error) {
	response, err := c.ask(ctx, at, accept)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// ask returns a good answer, and the Status of any other.
func (c *Client) ask(ctx context.Context, at, accept string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	return nil, responseError(response)
}
