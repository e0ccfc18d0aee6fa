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

// delegation decides who a request comes from and whether it may do what it asks.
type delegation struct {
	// authenticator judges what a user bears itself, proxy what the API server's
	// front proxy says of one; nil if there is none.
	authenticator, proxy authenticator.Request
	// decide tells whether a user may do something. Its error is errNoAnswer or
	// errTooManyQuestions.
	decide func(ctx context.Context, who user.Info, q access.Question) (bool, error)
	// review asks about permissions, without a cache.
	review access.Review
	// headers are those that the front proxy alone may set; nil if there is none.
	headers *authenticatorfactory.RequestHeaderConfig

	// prime reads what the front proxy's headers are; follow keeps up with that
	// and with the authorities, each of which is known when its channel is closed.
	prime  func(ctx context.Context) error
	follow []func(ctx context.Context)
	known  []<-chan struct{}
}

// newDelegation asks the API server: TokenReview, SubjectAccessReview, and its
// published client CA and front proxy, which are followed as they change.
// Answers are cached no longer than the interval after which they are doubted.
func newDelegation(config *rest.Config, recheck time.Duration) (*delegation, error) {
	config = rest.CopyConfig(config)
	// The limits are those of tokens, decisions and permissions, which are shared
	// fairly. A client's is first come, first served.
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for authentication: %w", err)
	}
	a := &delegation{}
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

// authority follows one CA of the API server's ConfigMap.
func (a *delegation) authority(client kubernetes.Interface, purpose, key string) (*dynamiccertificates.ConfigMapCAController, error) {
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
func (a *delegation) run(ctx context.Context) {
	var all sync.WaitGroup
	for _, follow := range a.follow {
		all.Go(func() { follow(ctx) })
	}
	all.Wait()
}

// wait gives what is followed a moment to be read, since until then the front
// proxy is a stranger. A cluster may have none of it, so an error is no reason
// not to serve: bearer tokens work, and the rest will when it is known.
func (a *delegation) wait(ctx context.Context) error {
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
