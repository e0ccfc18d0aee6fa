package stream

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
)

// negotiate tells whether the request prefers kubectl's table to JSON, or
// returns a Status if it accepts neither.
func negotiate(r *http.Request) (table bool, err error) {
	media, _, err := negotiation.NegotiateOutputMediaType(r, codecs, forms{})
	if err != nil {
		return false, err
	}
	return media.Convert != nil, nil
}

// forms are those that a graph and a list of them have.
type forms struct{}

func (forms) AllowsMediaTypeTransform(_, _ string, target *schema.GroupVersionKind) bool {
	return target == nil || *target == metav1.SchemeGroupVersion.WithKind("Table")
}
func (forms) AllowsServerVersion(string) bool { return false }
func (forms) AllowsStreamSchema(string) bool  { return false }
