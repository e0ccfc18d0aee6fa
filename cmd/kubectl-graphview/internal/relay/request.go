package relay

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
)

const (
	prefix      = "/apis/stream.graphview.dev/v1alpha1/"
	subprotocol = "graphview.v1"
)

// relayable are the requests for graphs, with names as Kubernetes has them. No
// name has a slash, a dot beside another or an escape in it, so what matches
// leads nowhere else.
var relayable = regexp.MustCompile(`^/apis/stream\.graphview\.dev/v1alpha1/(graphs|namespaces/` + label + `/graphs(/` + name + `(/object)?)?|watch/namespaces/` + label + `/graphs/` + name + `)$`)

const (
	label = `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`
	name  = `[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*`
)

// relayed is whether a request is for a graph. What is matched is the path as it
// came, so that nothing can be hidden by escapes.
func relayed(u *url.URL) bool { return relayable.MatchString(u.EscapedPath()) }

// forwarded are the headers that the API server gets. All others stay here: the
// cookie and the origin are this relay's, and those that say who somebody is are
// for the kubeconfig to say.
var forwarded = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Last-Event-Id", "User-Agent",
	"Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions",
}

func rewrite(r *httputil.ProxyRequest, target *url.URL) {
	out := http.Header{}
	for _, header := range forwarded {
		if values := r.In.Header.Values(header); len(values) > 0 {
			out[header] = values
		}
	}
	// The proxy has put the upgrade, if it is one, into the outgoing header.
	for _, header := range []string{"Connection", "Upgrade"} {
		if values := r.Out.Header.Values(header); len(values) > 0 {
			out[header] = values
		}
	}
	if offers(r.In.Header, subprotocol) {
		out.Set("Sec-WebSocket-Protocol", subprotocol)
	}
	r.Out.Header = out
	r.SetURL(target)
}

// offers is whether a client of a WebSocket offers a subprotocol.
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
