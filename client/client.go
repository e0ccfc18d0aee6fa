package client

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
)

// groupPath is the path of graphs on every server that serves them.
const groupPath = "/apis/stream.graphview.dev/v1alpha1"

// memberPath is the path at a hub below which the graphs of a member of its fleet are served. The
// name of the member's ClusterLink follows, and /proxy.
const memberPath = groupPath + "/clusters/"

// ForMember returns a configuration that reaches the graphs of a member of a fleet: config is that of
// its hub, and link the name of the member's ClusterLink.
func ForMember(config *rest.Config, link string) *rest.Config {
	member := rest.CopyConfig(config)
	member.Host = strings.TrimRight(config.Host, "/") + memberPath + url.PathEscape(link) + "/proxy"
	return member
}

// Client reaches the graphs of one server.
type Client struct {
	base *url.URL
	http *http.Client
}

// New returns a client of the server that a configuration names: a Kubernetes
// API server, which is a proxy to the operator, or the operator itself.
func New(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	// A WebSocket is an upgrade, which HTTP/2 does not have.
	config.NextProtos = []string{"http/1.1"}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("server %s: %w", base, err)
	}
	return &Client{base: base, http: client}, nil
}

// NewForHTTP returns a client of the server at base, such as
// https://graphview.graphview-system.svc, over an HTTP client that speaks
// HTTP/1.1 and adds the credentials of its user. Nil is http.DefaultClient.
func NewForHTTP(base string, client *http.Client) (*Client, error) {
	parsed, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if !slices.Contains([]string{"http", "https"}, parsed.Scheme) || parsed.Host == "" {
		return nil, fmt.Errorf("server: %q is no URL of the form https://host:port", base)
	}
	if client == nil {
		client = http.DefaultClient
	}
	return &Client{base: parsed, http: client}, nil
}

// CloseIdleConnections closes the connections that are not in use.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// url returns the URL of a path below groupPath; it escapes the segments.
func (c *Client) url(query url.Values, segments ...string) string {
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	u := c.base.JoinPath(groupPath + "/" + strings.Join(segments, "/"))
	u.RawQuery = query.Encode()
	return u.String()
}
