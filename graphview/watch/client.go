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
	// endedEarly counts lists, and pages of lists, whose response ended early.
	endedEarly atomic.Uint64
	// fellBack counts Watches that began with Protobuf and read JSON now.
	fellBack atomic.Uint64
	// close closes idle connections.
	close func()
}

func newClient(config *rest.Config, lists int) (*client, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})

	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	// A rate limit would delay watches too. Lists are limited by slots.
	config.QPS, config.RateLimiter = -1, nil
	// A time-out would end every watch early. See listWatcher for the time-outs of requests.
	config.Timeout = 0
	// Warnings are meant for the users who choose the resource, and the server
	// repeats them with every request.
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

// get starts a list or watch of key and returns the body of the response. If the
// server answers with a status, the error is of k8s.io/apimachinery/pkg/api/errors. If protobuf, the
// server may answer in Protobuf, but need not.
func (c *client) get(ctx context.Context, key Key, options metav1.ListOptions, protobuf bool) (io.ReadCloser, error) {
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
		SetHeader("Accept", accept(key, options.Watch, protobuf)).
		// The reflector retries, and State reports the failure.
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

// accept returns the media types to request. For the metadata of Secrets there is no alternative:
// a server that cannot leave out their data must refuse the request.
func accept(key Key, watch, protobuf bool) string {
	as := ""
	switch {
	case !key.secrets(), key.Reduced:
	case watch:
		as = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	default:
		as = ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	}
	types := "application/json" + as
	if protobuf {
		types = runtime.ContentTypeProtobuf + as + "," + types
	}
	return types
}

// slotTimeout is how long a list may hold a slot. It is far longer than reading a
// healthy list takes. It limits how long lists that hang delay the others.
const slotTimeout = 5 * time.Second

// slots limits how many lists are read at the same time, so that a start with hundreds
// of resources neither floods the API server nor allocates hundreds of buffers.
type slots chan struct{}

func newSlots(n int) slots { return make(slots, n) }

// acquire waits for a slot. The slot is free again when the caller calls release, which
// it may call more than once, or after slotTimeout.
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

// gunzip requests compressed responses and decompresses them, as net/http does, but in three
// quarters of the time. Decompression is a sixth of the time that a large list takes.
type gunzip struct{ next http.RoundTripper }

// WrappedRoundTripper returns the next RoundTripper. boundStreams finds the transport with it.
func (g gunzip) WrappedRoundTripper() http.RoundTripper { return g.next }

// RoundTrip does not change requests that have an Accept-Encoding or a Range header.
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

// gunzipped is the body of a compressed response. It neither reads nor allocates before Read.
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

// streamWindow is the receive window, in bytes, of a list or watch on an HTTP/2 connection.
// The default of 4 MiB can be full for each watch whose reader is behind. With hundreds of
// watches that is more memory than everything else. Inside a cluster, this small window
// delays no watch.
const streamWindow = 256 << 10

// ownTransport makes client-go create a transport that no other client shares, and reports
// whether it does: not if config has a Transport. The proxy stays the same.
func ownTransport(config *rest.Config) (owned bool) {
	if config.Transport != nil {
		return false
	}
	if config.Proxy == nil {
		config.Proxy = http.ProxyFromEnvironment
	}
	return true
}

// boundStreams sets the receive window for the streams of future connections to
// streamWindow.
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
