package stream

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
)

// guarded is what is behind a guard.
type guarded struct {
	// admit lets in, of who is authenticated, whom there is room for.
	admit func(http.Handler) http.Handler
	// open is for everybody who is authenticated, whatever the API server thinks of
	// them, and also when it does not answer.
	open func(*request.RequestInfo) http.Handler // nil: not open
	// rest is for who may do what is asked.
	rest http.Handler
	// refuse answers a request with a Status.
	refuse func(http.ResponseWriter, *http.Request, error)
}

// guard lets through what is authenticated and authorized. All else is answered
// with a Status.
func (a *delegation) guard(to guarded, m *metrics, logger logr.Logger) http.Handler {
	var next http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := request.RequestInfoFrom(r.Context())
		if !ok {
			to.refuse(w, r, apierrors.NewInternalError(errors.New("no request info")))
			return
		}
		if open := to.open(info); open != nil {
			open.ServeHTTP(w, r)
			return
		}
		a.authorize(w, r, info, to, m)
	})
	next = to.admit(withoutImpersonation(next, to.refuse))
	authenticate := a.authenticator
	if a.proxy != nil {
		authenticate = union.New(group.NewAuthenticatedGroupAdder(throughProxy(a.proxy)), a.authenticator)
	}
	next = filters.WithAuthentication(next, noted(authenticate, logger), unauthenticated(to.refuse, m), nil, a.headers)
	next = filters.WithRequestInfo(next, &request.RequestInfoFactory{
		APIPrefixes: sets.NewString("apis"), GrouplessAPIPrefixes: sets.NewString(),
	})
	return withAddress(remember(next))
}

// authorize asks whether a request may do what it wants.
func (a *delegation) authorize(w http.ResponseWriter, r *http.Request, info *request.RequestInfo, to guarded, m *metrics) {
	attributes, err := filters.GetAuthorizerAttributes(r.Context())
	if err != nil {
		to.refuse(w, r, apierrors.NewInternalError(err))
		return
	}
	may, err := a.decide(r.Context(), attributes.GetUser(), questionOf(info))
	switch {
	case err != nil:
		to.refuse(w, r, undecided("your permissions", err))
	case !may:
		m.refusal(http.StatusForbidden)
		responsewriters.Forbidden(attributes, w, r, "", codecs)
	default:
		to.rest.ServeHTTP(w, r)
	}
}

// may decides about something that a request does later than at its beginning,
// as guard decides about the request. The error is a *delivery.ClosedError.
func (a *delegation) may(ctx context.Context, who user.Info, q question) error {
	may, err := a.decide(ctx, who, q.access())
	switch {
	case err != nil:
		return &delivery.ClosedError{Reason: whyUndecided(err), Message: undecided("your permissions", err).ErrStatus.Message}
	case !may:
		return &delivery.ClosedError{Reason: reason.Forbidden, Message: "you may not " + q.String()}
	default:
		return nil
	}
}

// retryAfter is how many seconds a client is asked to wait for an API server that
// is away.
const retryAfter = 5

// undecided is the Status for who cannot be told yes or no. What the API server's
// client said, with addresses, is none of their business.
func undecided(what string, err error) *apierrors.StatusError {
	if errors.Is(err, errTooManyQuestions) {
		return apierrors.NewTooManyRequests("too many of your requests wait for the API server to check "+what+"; try again later", 1)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable,
		Message: "the API server cannot check " + what + " now; try again later",
		Details: &metav1.StatusDetails{RetryAfterSeconds: retryAfter},
	}}
}

func whyUndecided(err error) reason.Reason {
	if errors.Is(err, errTooManyQuestions) {
		return reason.TooManyRequests
	}
	return reason.Unavailable
}

// noted keeps in a request's credentials why they could not be judged, and logs why
// they are not accepted. The error ends here: whoever gets it would log it as an error
// of this server, with a stack trace, for each token that has expired. Strangers decide
// how many lines there could be and how long: an error may repeat their certificate.
// So not all are logged, none in full; the metric of refused requests counts them.
func noted(next authenticator.Request, logger logr.Logger) authenticator.Request {
	lines := rate.Sometimes{First: 20, Interval: time.Second}
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		answer, ok, err := next.AuthenticateRequest(r)
		if kept := credentialsFrom(r.Context()); kept != nil && !ok {
			switch {
			case errors.Is(err, errTooManyQuestions):
				kept.undecided = errTooManyQuestions
			case errors.Is(err, errNoAnswer):
				kept.undecided = errNoAnswer
			}
		}
		if err != nil && !ok {
			lines.Do(func() {
				logger.Info("credentials are not accepted", "reason", delivery.Bounded(err.Error()), "address", addressFrom(r.Context()))
			})
			err = nil
		}
		return answer, ok, err
	})
}

// unauthenticated answers who was not authenticated: that it is nobody, or that
// this cannot be known now.
func unauthenticated(refuse func(http.ResponseWriter, *http.Request, error), m *metrics) http.Handler {
	nobody := filters.Unauthorized(codecs)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kept := credentialsFrom(r.Context()); kept != nil && kept.undecided != nil {
			closeStranger(w, r)
			refuse(w, r, undecided("your credentials", kept.undecided))
			return
		}
		m.refusal(http.StatusUnauthorized)
		closeStranger(w, r)
		nobody.ServeHTTP(w, r)
	})
}

// withoutImpersonation refuses those who ask to be seen as somebody else. The API
// server does that for who may; here, they would be shown what they may see
// themselves and take it for the other's.
func withoutImpersonation(next http.Handler, refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if credentialsFrom(r.Context()).own() != nil {
			for name := range r.Header {
				if strings.HasPrefix(name, "Impersonate-") {
					refuse(w, r, status(http.StatusForbidden, metav1.StatusReasonForbidden, graphview.Name{},
						"the header "+name+" is not supported on this port; ask through the API server, which impersonates, for instance with kubectl --as"))
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}
