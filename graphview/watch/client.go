package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// client makes the requests of all Watches over one HTTP client.
type client struct {
	rest   rest.Interface
	params runtime.ParameterCodec
	lists  slots
	// endedEarly counts lists, and pages of lists, that ended before their time.
	endedEarly atomic.Uint64
	// close closes idle connections.
	close func()
}

func newClient(config *rest.Config, lists int) (*client, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})

	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	// A limit on requests would be one on watches too; lists have slots.
	config.QPS, config.RateLimiter = -1, nil
	// It would cut every watch; see source for the time-outs of requests.
	config.Timeout = 0
	// Warnings are for people who chose the resource, and would come again
	// with every request.
	config.WarningHandler, config.WarningHandlerWithContext = rest.NoWarnings{}, nil

	if !config.DisableCompression {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return gunzip{next} })
	}
	owned := ownTransport(config)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("HTTP client: %w", err)
	}
	closeIdle := func() {}
	if owned {
		boundStreams(httpClient.Transport)
		closeIdle = func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) }
	}
	restClient, err := rest.UnversionedRESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("REST client: %w", err)
	}
	return &client{rest: restClient, params: runtime.NewParameterCodec(scheme), lists: newSlots(lists), close: closeIdle}, nil
}

// get starts a list or watch of key and returns the response's body. Errors
// that the server answered are of k8s.io/apimachinery/pkg/api/errors.
func (c *client) get(ctx context.Context, key Key, options metav1.ListOptions) (io.ReadCloser, error) {
	options.LabelSelector, options.FieldSelector = key.LabelSelector, key.FieldSelector
	path := []string{"/apis", key.Resource.Group, key.Resource.Version}
	if key.Resource.Group == "" {
		path = []string{"/api", key.Resource.Version}
	}
	body, err := c.rest.Get().
		AbsPath(path...).
		NamespaceIfScoped(key.Namespace, key.Namespace != "").
		Resource(key.Resource.Resource).
		SpecificallyVersionedParams(&options, c.params, schema.GroupVersion{Version: "v1"}).
		SetHeader("Accept", accept(key, options.Watch)).
		// The reflector waits and tries again, and State reports the failure.
		MaxRetries(0).
		Stream(ctx)
	if request, ok := errors.AsType[*url.Error](err); ok {
		return nil, connectionFailed(request)
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

// accept is the media type to ask for. For Secrets there is no second choice:
// a server that cannot leave their data out is to refuse.
func accept(key Key, watch bool) string {
	switch {
	case !key.secrets(), key.Reduced:
		return "application/json"
	case watch:
		return "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	default:
		return "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	}
}

// slotTimeout is how long a list may keep others waiting. It is far longer than
// a healthy list takes to be read, and bounds what a few that hang cost all
// the others.
const slotTimeout = 5 * time.Second

// slots limits how many lists are read at once, so that a start over hundreds
// of resources neither floods the API server nor holds hundreds of buffers.
type slots chan struct{}

func newSlots(n int) slots { return make(slots, n) }

// acquire waits for a slot. The slot is given back by release, which may be
// called more than once, or when slotTimeout ends, whichever comes first.
func (s slots) acquire(ctx context.Context) (release func(), err error) {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	back := sync.OnceFunc(func() { <-s })
	timer := time.AfterFunc(slotTimeout, back)
	return func() {
		timer.Stop()
		back()
	}, nil
}

// gunzip asks for compressed answers and unpacks them, as net/http does by itself, in three
// quarters of the time: to unpack a large list is a sixth of what it takes.
type gunzip struct{ next http.RoundTripper }

// WrappedRoundTripper lets others find the transport.
func (g gunzip) WrappedRoundTripper() http.RoundTripper { return g.next }

// RoundTrip leaves requests alone that say what they accept, or that want a part.
func (g gunzip) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Header.Get("Accept-Encoding") != "" || request.Header.Get("Range") != "" {
		return g.next.RoundTrip(request)
	}
	request = request.Clone(request.Context())
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := g.next.RoundTrip(request)
	if err != nil || !strings.EqualFold(response.Header.Get("Content-Encoding"), "gzip") {
		return response, err
	}
	response.Header.Del("Content-Encoding")
	response.Header.Del("Content-Length")
	response.ContentLength, response.Uncompressed = -1, true
	response.Body = &gunzipped{body: response.Body}
	return response, nil
}

// gunzipped is the body of an answer. It reads and allocates nothing before the first Read.
type gunzipped struct {
	body   io.ReadCloser
	reader *gzip.Reader
	err    error
}

func (g *gunzipped) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	if g.reader == nil {
		if g.reader, g.err = gzip.NewReader(g.body); g.err != nil {
			return 0, g.err
		}
	}
	n, err := g.reader.Read(p)
	g.err = err
	return n, err
}

func (g *gunzipped) Close() error { return g.body.Close() }

// streamWindow is how much of a list or a watch is taken from the connection before it
// is read. HTTP/2's own 4 MiB are held for each watch whose reader is behind: of
// hundreds of watches that would be more memory than everything else. Inside a
// cluster, a window as small delays no watch.
const streamWindow = 256 << 10

// ownTransport makes the configuration use a transport that no other client shares, unless the
// configuration has one. The proxy stays the same.
func ownTransport(config *rest.Config) (owned bool) {
	if config.Transport != nil {
		return false
	}
	if config.Proxy == nil {
		config.Proxy = http.ProxyFromEnvironment
	}
	return true
}

// boundStreams bounds what is held of each stream of connections that are yet to be
// made.
func boundStreams(transport http.RoundTripper) {
	for {
		switch t := transport.(type) {
		case *http.Transport:
			t.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: streamWindow}
			return
		case utilnet.RoundTripperWrapper:
			transport = t.WrappedRoundTripper()
		default:
			return
		}
	}
}
