package stream

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"

	"graphview.dev/stream/format"
)

// negotiate reports whether the request prefers kubectl's table to JSON, or returns a Status
// if it accepts neither.
func negotiate(r *http.Request) (table bool, err error) {
	media, _, err := negotiation.NegotiateOutputMediaType(r, codecs, forms{})
	if err != nil {
		return false, err
	}
	return media.Convert != nil, nil
}

// form is the form of an answer: one of the formats, kubectl's table, or else JSON.
type form struct {
	table  bool
	format format.Format
}

// negotiateForm returns the form that a request for one graph asks for, or a Status. The URL
// has precedence over Accept: a user writes the URL, and a program sets Accept.
func negotiateForm(r *http.Request) (form, error) {
	switch name := r.URL.Query().Get(formatOption); name {
	case "":
	case jsonFormat:
		return form{}, nil
	default:
		f, err := format.Parse(name)
		if err != nil {
			var served strings.Builder
			served.WriteString(jsonFormat)
			for _, f := range format.All() {
				served.WriteString(", " + string(f))
			}
			return form{}, apierrors.NewBadRequest(fmt.Sprintf("format %q is not served; there are %s", name, served.String()))
		}
		return form{format: f}, nil
	}
	media, _, err := negotiation.NegotiateOutputMediaType(r, graphCodecs{codecs}, forms{})
	if err != nil {
		return form{}, err
	}
	for _, f := range format.All() {
		if media.Accepted.MediaType == f.MediaType() {
			return form{format: f}, nil
		}
	}
	return form{table: media.Convert != nil}, nil
}

// onlyJSON returns a Status for a request that asks for another format than JSON.
func onlyJSON(r *http.Request) error {
	if name := r.URL.Query().Get(formatOption); name != "" && name != jsonFormat {
		return apierrors.NewBadRequest(fmt.Sprintf("format %q is served of one graph as it is now, neither of lists nor of streams", name))
	}
	return nil
}

// graphCodecs has the media types of one graph. JSON comes first, as the answer to a request
// that accepts everything.
type graphCodecs struct{ jsonCodecs }

func (c graphCodecs) SupportedMediaTypes() []runtime.SerializerInfo {
	infos := c.jsonCodecs.SupportedMediaTypes()
	for _, f := range format.All() {
		kind, subtype, _ := strings.Cut(f.MediaType(), "/")
		infos = append(infos, runtime.SerializerInfo{MediaType: f.MediaType(), MediaTypeType: kind, MediaTypeSubType: subtype})
	}
	return infos
}

// forms are the answers that a graph and a list of graphs have.
type forms struct{}

func (forms) AllowsMediaTypeTransform(kind, subtype string, target *schema.GroupVersionKind) bool {
	return target == nil || kind+"/"+subtype == jsonType && *target == metav1.SchemeGroupVersion.WithKind("Table")
}
func (forms) AllowsServerVersion(string) bool { return false }
func (forms) AllowsStreamSchema(string) bool  { return false }

func isUpgrade(r *http.Request) bool {
	return slices.Contains(tokens(r, "Upgrade"), "websocket")
}

func protocols(r *http.Request) []string { return tokens(r, protocolHeader) }

// tokens returns the elements of a header that is a list, in lower case.
func tokens(r *http.Request, header string) []string {
	var all []string
	for token := range strings.SplitSeq(strings.Join(r.Header.Values(header), ","), ",") {
		if token = strings.ToLower(strings.TrimSpace(token)); token != "" {
			all = append(all, token)
		}
	}
	return all
}

// accepts reports whether the request names a media type.
func accepts(r *http.Request, mediaType string) bool {
	return slices.ContainsFunc(tokens(r, "Accept"), func(token string) bool {
		token, _, _ = strings.Cut(token, ";")
		return strings.TrimSpace(token) == mediaType
	})
}
