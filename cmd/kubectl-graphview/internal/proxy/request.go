package proxy

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
)

const (
	prefix = "/apis/stream.graphview.dev/v1alpha1/"
	// subprotocol is that of one graph, and several that of a connection for many.
	subprotocol = "graphview.v1"
	several     = "graphview.mux.v1"
	severalPath = prefix + "watch/streams"
)

// forwardable matches requests for the clusters of a fleet, for a connection for many graphs, and for
// graphs, also those of such a cluster, with names that Kubernetes permits. Such a name contains no slash, no two dots in a row and
// no escape, so a path that matches cannot lead elsewhere.
var forwardable = regexp.MustCompile(`^` + group + `(clusters|watch/streams|(clusters/` + name + `/proxy` + group + `)?(graphs|namespaces/` + label + `/graphs(/` + name + `(/object)?)?|watch/namespaces/` + label + `/graphs/` + name + `))$`)

const (
	group = `/apis/stream\.graphview\.dev/v1alpha1/`
	label = `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`
	name  = `[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*`
)

// forwards reports whether a request is for a graph. It matches the path as it was
// sent, so that escapes cannot hide anything.
func forwards(u *url.URL) bool { return forwardable.MatchString(u.EscapedPath()) }

// forwardedHeaders reach the API server. All others are dropped: the cookie and the
// origin are for the proxy, and identity comes from the kubeconfig only.
var forwardedHeaders = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Last-Event-Id", "User-Agent",
	"Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions",
}

func rewrite(r *httputil.ProxyRequest, target *url.URL) {
	out := http.Header{}
	for _, header := range forwardedHeaders {
		if values := r.In.Header.Values(header); len(values) > 0 {
			out[header] = values
		}
	}
	// ReverseProxy copied the headers of an upgrade to the outgoing request.
	for _, header := range []string{"Connection", "Upgrade"} {
		if values := r.Out.Header.Values(header); len(values) > 0 {
			out[header] = values
		}
	}
	for _, known := range []string{subprotocol, several} {
		if offers(r.In.Header, known) {
			out.Set("Sec-WebSocket-Protocol", known)
		}
	}
	r.Out.Header = out
	if r.Out.URL.Path == severalPath {
		query := r.Out.URL.Query()
		query.Set("adhoc", "false") // the user may have a right that the page does not need
		r.Out.URL.RawQuery = query.Encode()
	}
	r.SetURL(target)
}

// offers reports whether the client of a WebSocket offers a subprotocol.
func offers(header http.Header, wanted string) bool {
	for _, line := range header.Values("Sec-WebSocket-Protocol") {
		for protocol := range strings.SplitSeq(line, ",") {
			if strings.TrimSpace(protocol) == wanted {
				return true
			}
		}
	}
	return false
}

// cutView splits NAMESPACE/NAME.
func cutView(view string) (namespace, name string, ok bool) {
	namespace, name, ok = strings.Cut(view, "/")
	return namespace, name, ok && namespace != "" && name != ""
}
