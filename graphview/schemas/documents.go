package schemas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs/schema"
)

// timeout limits one request. If an extension server hangs, the schemas of its kinds are missing, and
// the next documents are delayed by this time.
const timeout = 30 * time.Second

// Client reads OpenAPI documents of an API server.
type Client struct{ rest rest.Interface }

// New returns a Client. It makes no requests.
func New(config *rest.Config) (*Client, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI: %w", err)
	}
	return &Client{rest: client.RESTClient()}, nil
}

// documents is the prefix of the addresses of documents. Other addresses in an index are ignored, since
// they would be read with the operator's permissions.
const documents = "/openapi/v3/"

// Index returns the addresses of documents by group and version, such as
// apis/example.com/v1. An address changes when the document does.
func (c *Client) Index(ctx context.Context) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, err := c.rest.Get().AbsPath("/openapi/v3").SetHeader("Accept", "application/json").Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("index of OpenAPI documents: %w", err)
	}
	defer func() { _ = body.Close() }()
	var index struct {
		Paths map[string]struct {
			Address string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.NewDecoder(&meteredReader{r: body, meter: document.Meter()}).Decode(&index); err != nil {
		return nil, fmt.Errorf("index of OpenAPI documents: %w", err)
	}
	addresses := make(map[string]string, len(index.Paths))
	for path, of := range index.Paths {
		if strings.HasPrefix(of.Address, documents) {
			addresses[path] = of.Address
		}
	}
	return addresses, nil
}

// Read yields the schemas of the wanted kinds in the document at an address, one at a time.
func (c *Client) Read(ctx context.Context, address string, wanted func(graph.Kind) bool, yield func(graph.Kind, *schema.Schema, error)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, err := c.rest.Verb(http.MethodGet).RequestURI(address).SetHeader("Accept", "application/json").Stream(ctx)
	if err != nil {
		return fmt.Errorf("OpenAPI document: %w", err)
	}
	defer func() { _ = body.Close() }()
	if err := Read(body, wanted, yield); err != nil {
		return fmt.Errorf("OpenAPI document: %w", err)
	}
	_, _ = io.CopyN(io.Discard, body, 1) // so that the connection is reused
	return nil
}

// Kind reads the schema of one kind from the document at a path of the index, nil if
// there is none.
func (c *Client) Kind(ctx context.Context, path string, kind graph.Kind) (found *schema.Schema, err error) {
	index, err := c.Index(ctx)
	if err != nil || index[path] == "" {
		return nil, err
	}
	var why error
	err = c.Read(ctx, index[path], func(of graph.Kind) bool { return of == kind }, func(_ graph.Kind, schema *schema.Schema, err error) {
		if why = err; err == nil {
			found = schema
		}
	})
	return found, errors.Join(err, why)
}

// Path returns the path of a group and version in the index.
func Path(group, version string) string {
	if group == "" {
		return "api/" + version
	}
	return "apis/" + group + "/" + version
}

// Version returns the version in a path of the index.
func Version(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
