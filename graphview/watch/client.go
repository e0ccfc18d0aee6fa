package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"

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
