package stream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/request/websocket"
	"k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/access"
)

// The ConfigMap in which the API server publishes its client CA and the headers of its
// front proxy.
const (
	authenticationNamespace = "kube-system"
	authenticationConfigMap = "extension-apiserver-authentication"
)

const (
	tokenTTL = 10 * time.Second
	allowTTL = 10 * time.Second
	// denyTTL is how long a refusal is cached: only long enough to absorb a burst, since a user who is
	// granted the right asks again.
	denyTTL = 2 * time.Second
	// authoritiesWithin bounds the wait for the client CAs before serving.
	authoritiesWithin = 5 * time.Second
)

// delegatedAuth authenticates and authorizes requests by asking the API server.
type delegatedAuth struct {
	// authenticator reads the user's own credentials, proxy the headers of the API server's
	// front proxy; nil if there is none.
	authenticator, proxy authenticator.Request
	// decide reports whether a user has a right. Its error is errNoAnswer or
	// errTooManyQuestions.
	decide func(ctx context.Context, who user.Info, q access.Question) (bool, error)
	// review asks about a right, without a cache.
	review access.Review
	// headers are the headers that only the front proxy may set; nil without a front proxy.
	headers *authenticatorfactory.RequestHeaderConfig

	// prime reads the names of the front proxy's headers. follow keeps them and the
	// authorities current; an authority is known when its channel is closed.
	prime  func(ctx context.Context) error
	follow []func(ctx context.Context)
	known  []<-chan struct{}
}

// newDelegatedAuth uses TokenReview, SubjectAccessReview, and the published client CA and
// front proxy, which it follows as they change. Answers are cached for at most recheck.
func newDelegatedAuth(config *rest.Config, recheck time.Duration) (*delegatedAuth, error) {
	config = rest.CopyConfig(config)
	// Tokens, decisions and permissions have limits that are shared fairly among users, which
	// the client's own limit is not.
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for authentication: %w", err)
	}
	a := &delegatedAuth{}
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
	a.proxy = headerrequest.NewDynamicVerifyOptionsSecure(proxyCA.VerifyOptions, a.headers.AllowedClientNames,
		a.headers.UsernameHeaders, a.headers.UIDHeaders, a.headers.GroupHeaders, a.headers.ExtraHeaderPrefixes)
	tokens := newTokenReviewer(apiServerTokenReview(client.AuthenticationV1().TokenReviews()), recheck)
	a.authenticator = group.NewAuthenticatedGroupAdder(union.New(
		x509.NewDynamic(clientCA.VerifyOptions, x509.CommonNameUserConversion),
		bearertoken.New(tokens), websocket.NewProtocolAuthenticator(tokens)))
	a.review = access.SubjectAccessReviews(client.AuthorizationV1().SubjectAccessReviews())
	a.decide = newDecisions(a.review, recheck).may
	return a, nil
}

// authority follows one CA in the API server's ConfigMap.
func (a *delegatedAuth) authority(client kubernetes.Interface, purpose, key string) (*dynamiccertificates.ConfigMapCAController, error) {
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

// run follows the ConfigMap until ctx is done.
func (a *delegatedAuth) run(ctx context.Context) {
	var all sync.WaitGroup
	for _, follow := range a.follow {
		all.Go(func() { follow(ctx) })
	}
	all.Wait()
}

// wait waits until the ConfigMap has been read, but not for long: until then the front
// proxy is not recognized. A cluster may have no such ConfigMap, so an error does not
// prevent serving. Bearer tokens work without it.
func (a *delegatedAuth) wait(ctx context.Context) error {
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
