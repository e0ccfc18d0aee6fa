package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
)

// Where the API server publishes its client CA and how its front proxy names
// users.
const (
	authenticationNamespace = "kube-system"
	authenticationConfigMap = "extension-apiserver-authentication"
)

const (
	tokenTTL = 10 * time.Second
	allowTTL = 10 * time.Second
	// Whoever was refused asks again after being granted the right, so a refusal
	// is remembered only long enough to hold off a storm.
	denyTTL = 2 * time.Second
	// authoritiesWithin bounds how long serving waits for the client CAs.
	authoritiesWithin = 5 * time.Second
)

// access decides who a request comes from and whether it may do what it asks.
type access struct {
	// authenticator judges what a user bears itself, proxy what the API server's
	// front proxy says of one; nil if there is none.
	authenticator, proxy authenticator.Request
	authorizer           authorizer.Authorizer
	// review asks about permissions, without a cache.
	review review
	// headers are those that the front proxy alone may set; nil if there is none.
	headers *authenticatorfactory.RequestHeaderConfig

	// prime reads what the front proxy's headers are; follow keeps up with that
	// and with the authorities, each of which is known when its channel is closed.
	prime  func(ctx context.Context) error
	follow []func(ctx context.Context)
	known  []<-chan struct{}
}

// delegatedAccess asks the API server: TokenReview, SubjectAccessReview, and its
// published client CA and front proxy, which are followed as they change.
// Answers are cached no longer than the interval after which they are doubted.
func delegatedAccess(config *rest.Config, recheck time.Duration) (*access, error) {
	config = rest.CopyConfig(config)
	// A limit here would delay requests of subscribers; the caches are what
	// protects the API server.
	config.QPS, config.Burst = 200, 400
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for authentication: %w", err)
	}
	a := &access{}
	clientCA, err := a.authority(client, "client-ca", "client-ca-file")
	if err != nil {
		return nil, err
	}
	proxyCA, err := a.authority(client, "front-proxy-ca", "requestheader-client-ca-file")
	if err != nil {
		return nil, err
	}
	proxy := headerrequest.NewRequestHeaderAuthRequestController(
		authenticationConfigMap, authenticationNamespace, client,
		"requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers",
		"requestheader-extra-headers-prefix", "requestheader-allowed-names")
	a.prime = proxy.RunOnce
	a.follow = append(a.follow, func(ctx context.Context) { proxy.Run(ctx, 1) })
	a.headers = &authenticatorfactory.RequestHeaderConfig{
		CAContentProvider:   proxyCA,
		UsernameHeaders:     headerrequest.StringSliceProviderFunc(proxy.UsernameHeaders),
		UIDHeaders:          headerrequest.StringSliceProviderFunc(proxy.UIDHeaders),
		GroupHeaders:        headerrequest.StringSliceProviderFunc(proxy.GroupHeaders),
		ExtraHeaderPrefixes: headerrequest.StringSliceProviderFunc(proxy.ExtraHeaderPrefixes),
		AllowedClientNames:  headerrequest.StringSliceProviderFunc(proxy.AllowedClientNames),
	}
	backoff := wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5}
	a.proxy = headerrequest.NewDynamicVerifyOptionsSecure(proxyCA.VerifyOptions, a.headers.AllowedClientNames,
		a.headers.UsernameHeaders, a.headers.UIDHeaders, a.headers.GroupHeaders, a.headers.ExtraHeaderPrefixes)
	a.authenticator, _, err = authenticatorfactory.DelegatingAuthenticatorConfig{
		TokenAccessReviewClient:            client.AuthenticationV1(),
		TokenAccessReviewTimeout:           10 * time.Second,
		WebhookRetryBackoff:                &backoff,
		CacheTTL:                           min(tokenTTL, recheck),
		ClientCertificateCAContentProvider: clientCA,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("authenticator: %w", err)
	}
	a.authorizer, err = authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client.AuthorizationV1(),
		AllowCacheTTL:             min(allowTTL, recheck),
		DenyCacheTTL:              min(denyTTL, recheck),
		WebhookRetryBackoff:       &backoff,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("authorizer: %w", err)
	}
	// Questions about permissions have limits of their own, and must not hold up
	// those about requests.
	config.QPS = -1
	reviews, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for permissions: %w", err)
	}
	a.review = subjectAccessReview(reviews.SubjectAccessReviews())
	return a, nil
}

// authority follows one CA of the API server's ConfigMap.
func (a *access) authority(client kubernetes.Interface, purpose, key string) (*dynamiccertificates.ConfigMapCAController, error) {
	ca, err := dynamiccertificates.NewDynamicCAFromConfigMapController(
		purpose, authenticationNamespace, authenticationConfigMap, key, client)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", purpose, err)
	}
	known := make(chan struct{})
	ca.AddListener(listener(sync.OnceFunc(func() { close(known) })))
	a.known = append(a.known, known)
	a.follow = append(a.follow, func(ctx context.Context) { ca.Run(ctx, 1) })
	return ca, nil
}

type listener func()

func (l listener) Enqueue() { l() }

// run follows what the API server publishes until ctx is done.
func (a *access) run(ctx context.Context) {
	var all sync.WaitGroup
	for _, follow := range a.follow {
		all.Go(func() { follow(ctx) })
	}
	all.Wait()
}

// wait gives what is followed a moment to be read, since until then the front
// proxy is a stranger. A cluster may have none of it, so an error is no reason
// not to serve: bearer tokens work, and the rest will when it is known.
func (a *access) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, authoritiesWithin, errNoAuthority)
	defer cancel()
	if a.prime != nil {
		if err := a.prime(ctx); err != nil {
			return fmt.Errorf("read %s/%s: %w", authenticationNamespace, authenticationConfigMap, err)
		}
	}
	for _, known := range a.known {
		select {
		case <-known:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

var errNoAuthority = errors.New("a client CA is missing in " + authenticationNamespace + "/" + authenticationConfigMap)

// may decides about something that a request does later than at its beginning,
// as guard decides about the request. The error is a *graphview.ClosedError.
func (a *access) may(ctx context.Context, who user.Info, q question) error {
	decision, _, err := a.authorizer.Authorize(ctx, q.attributes(who))
	switch {
	case decision == authorizer.DecisionAllow:
		return nil
	case err != nil:
		return &graphview.ClosedError{Reason: reason.Unavailable, Message: "your permissions cannot be checked now; try again later"}
	default:
		return &graphview.ClosedError{Reason: reason.Forbidden, Message: fmt.Sprintf("you may not %s", q)}
	}
}

// guard lets through to next what is authenticated, admitted and authorized. All
// else is answered with a Status.
func (a *access) guard(next http.Handler, m *metrics, admit func(http.Handler) http.Handler) http.Handler {
	next = admit(filters.WithAuthorization(next, m.forbidden(a.authorizer), codecs))
	authenticate := a.authenticator
	if a.proxy != nil {
		authenticate = union.New(group.NewAuthenticatedGroupAdder(throughProxy(a.proxy)), a.authenticator)
	}
	next = filters.WithAuthentication(next, authenticate, m.unauthenticated(filters.Unauthorized(codecs)), nil, a.headers)
	next = filters.WithRequestInfo(next, &request.RequestInfoFactory{
		APIPrefixes: sets.NewString("apis"), GrouplessAPIPrefixes: sets.NewString(),
	})
	return remember(next)
}
