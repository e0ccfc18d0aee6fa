package proxy

import (
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"mime"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/stream/fleet/gateway"
)

// Options of Serve. All of them are required.
type Options struct {
	// Path is that of the other cluster's own server, unescaped and without dot segments.
	Path string
	// User is named to the other cluster.
	User user.Info
	// Transport sends the request to the cluster.
	Transport http.RoundTripper
	// Writing is called before bytes are written to the client. It returns a function that is called
	// after the write.
	Writing func() (written func())
}

// Errors of an answer that does not pass.
var (
	// ErrUser means that the user cannot be named to another cluster.
	ErrUser = errors.New("your user cannot be named to another cluster")
	// ErrAnswer means that the cluster answers with something else than the stream API does.
	ErrAnswer = errors.New("the cluster does not answer as the stream API does")
	// ErrFormat means that the answer has a format in which browsers run scripts.
	ErrFormat = errors.New("graphml is not served through a hub, since browsers run scripts in XML; ask for json, dot or mermaid")
)

// requestHeaders are the headers of a client that pass, and upgradeHeaders those beside them
// of a WebSocket's handshake. Origin, cookies and credentials are checked here.
var (
	requestHeaders = []string{"Accept", "Accept-Encoding", "Cache-Control", "Last-Event-Id"}
	upgradeHeaders = []string{"Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions"}
)

// responseHeaders are the headers of a cluster that pass, and switchHeaders those of an answer
// to an upgrade.
var (
	responseHeaders = []string{"Content-Type", "Content-Encoding", "Content-Length", "Retry-After", "X-Accel-Buffering", "Graphview-Version"}
	switchHeaders   = []string{"Sec-Websocket-Accept", "Sec-Websocket-Protocol", "Sec-Websocket-Extensions"}
)

// mediaTypes are those of the stream API that no browser takes for a document with scripts.
var mediaTypes = []string{"application/json", "text/event-stream", "text/vnd.graphviz", "text/vnd.mermaid"}

// protocolHeader offers subprotocols of WebSockets. A browser's token is among them.
const protocolHeader = "Sec-WebSocket-Protocol"

// Serve passes a GET request to another cluster. It returns when the answer has ended, also
// that of a WebSocket. After an error the caller answers the client in place of the cluster. It is
// one of Transport, one of this package, or that of the request's context.
func Serve(w http.ResponseWriter, r *http.Request, o Options) (err error) {
	header := http.Header{}
	if err := gateway.SetUser(header, o.User); err != nil {
		return fmt.Errorf("%w: %w", ErrUser, err)
	}
	out := &writer{ResponseWriter: w, header: http.Header{}, writing: o.Writing}
	(&httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { rewrite(p.Out, p.In, o.Path, header) },
		Transport:      o.Transport,
		ModifyResponse: filterResponse,
		BufferPool:     buffers{},
		ErrorLog:       log.New(io.Discard, "", 0), // an answer that is cut is the cluster's
		ErrorHandler:   func(_ http.ResponseWriter, _ *http.Request, failed error) { err = failed },
	}).ServeHTTP(out, r)
	return err
}

// rewrite replaces everything of the request that comes from the client. The user is written last.
func rewrite(out, in *http.Request, path string, user http.Header) {
	header := http.Header{}
	upgrade := strings.EqualFold(out.Header.Get("Upgrade"), "websocket")
	pass(header, in.Header, requestHeaders)
	if upgrade {
		pass(header, in.Header, upgradeHeaders)
		if offered := protocols(in.Header); len(offered) > 0 {
			header.Set(protocolHeader, strings.Join(offered, ", "))
		}
		header.Set("Connection", "Upgrade")
		header.Set("Upgrade", "websocket")
	}
	header["User-Agent"] = nil // net/http sends none
	maps.Copy(header, user)
	out.Header, out.Trailer, out.TransferEncoding = header, nil, nil
	out.Body, out.ContentLength = http.NoBody, 0
	out.URL = &url.URL{Scheme: "http", Host: "member", Path: path, RawQuery: in.URL.Query().Encode()}
	out.Host = ""
}

// pass copies the headers that are on a list.
func pass(to, from http.Header, list []string) {
	for _, name := range list {
		if values := from.Values(name); len(values) > 0 {
			to[name] = slices.Clone(values)
		}
	}
}

// protocols returns the subprotocols that a client offers, without its token.
func protocols(header http.Header) []string {
	var all []string
	for offered := range strings.SplitSeq(strings.Join(header.Values(protocolHeader), ","), ",") {
		if offered = strings.TrimSpace(offered); offered != "" && !strings.Contains(offered, "bearer.authorization") {
			all = append(all, offered)
		}
	}
	return all
}

// filterResponse removes the headers of an answer that must not pass, or returns an ErrAnswer.
func filterResponse(response *http.Response) error {
	header := http.Header{}
	code := response.StatusCode
	if code == http.StatusSwitchingProtocols {
		pass(header, response.Header, switchHeaders)
		header.Set("Connection", "Upgrade")
		header.Set("Upgrade", "websocket")
		if !strings.EqualFold(response.Header.Get("Upgrade"), "websocket") {
			return fmt.Errorf("%w: it switches to another protocol", ErrAnswer)
		}
		response.Header = header
		return nil
	}
	// A member cannot say that the user's credentials at the hub are bad, or send the client
	// elsewhere.
	if code == http.StatusUnauthorized || code >= 300 && code < 400 {
		return fmt.Errorf("%w: %s", ErrAnswer, http.StatusText(code))
	}
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if media == "application/graphml+xml" {
		return ErrFormat
	}
	if err != nil || !slices.Contains(mediaTypes, media) {
		return fmt.Errorf("%w: a media type that does not pass through a hub", ErrAnswer)
	}
	pass(header, response.Header, responseHeaders)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Cache-Control", "no-store")
	response.Header, response.Trailer = header, nil
	response.Body = &body{response.Body, response}
	return nil
}

// body is that of an answer, without trailers.
type body struct {
	io.ReadCloser

	of *http.Response
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.of.Trailer = nil
	}
	return n, err
}

// bufferBytes is the size of the buffers of a stream: a subscriber that is idle holds one.
const bufferBytes = 8 << 10

// buffers implements httputil.BufferPool.
type buffers struct{}

var bufferPool = sync.Pool{New: func() any { return new([bufferBytes]byte) }}

// Get implements httputil.BufferPool.
func (buffers) Get() []byte { return bufferPool.Get().(*[bufferBytes]byte)[:] } //nolint:forcetypeassert // the pool has no others

// Put implements httputil.BufferPool.
func (buffers) Put(b []byte) { bufferPool.Put((*[bufferBytes]byte)(b)) }
