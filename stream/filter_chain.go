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
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/api/reason"
	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/delivery"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/names"
)

// handlers are behind the filter chain.
type handlers struct {
	// authenticate finds the user of a request.
	authenticate authenticator.Request
	// admit refuses authenticated requests beyond a connection limit.
	admit func(http.Handler) http.Handler
	// open returns the handler of a request that needs authentication but no right, also
	// while the API server does not answer; nil for other requests.
	open func(*request.RequestInfo) handlerFunc
	// rest handles authorized requests.
	rest handlerFunc
	// answering returns the handler that answers the errors of another.
	answering func(handlerFunc) http.Handler
}

// filter passes requests that are authenticated and authorized, and answers all others with
// a Status. The chain is built from the inside out; the outermost filter runs first.
func (a *delegatedAuth) filter(to handlers, m *metrics, logger logr.Logger) http.Handler {
	next := to.admit(to.answering(func(w http.ResponseWriter, r *http.Request) error {
		if err := refuseImpersonation(r); err != nil {
			return err
		}
		info, ok := request.RequestInfoFrom(r.Context())
		if !ok {
			return apierrors.NewInternalError(errors.New("no request info"))
		}
		if open := to.open(info); open != nil {
			return open(w, r)
		}
		return a.authorize(w, r, info, to, m)
	}))
	next = filters.WithAuthentication(next, withAuthErrors(to.authenticate, logger), to.answering(unauthenticated(m)), nil, a.headers)
	next = filters.WithRequestInfo(next, requestInfos)
	return withClient(withCredentials(next))
}

// authentication returns the authenticator of the server's own port.
func (a *delegatedAuth) authentication() authenticator.Request {
	if a.proxy == nil {
		return a.authenticator
	}
	return union.New(group.NewAuthenticatedGroupAdder(markProxied(a.proxy)), a.authenticator)
}

// authorize answers a request that the user has no right to, and passes the others.
func (a *delegatedAuth) authorize(w http.ResponseWriter, r *http.Request, info *request.RequestInfo, to handlers, m *metrics) error {
	attributes, err := filters.GetAuthorizerAttributes(r.Context())
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if ofStreams(info) && credentialsFrom(r.Context()).ofHub() {
		// Every user may connect. The user's group of all users is another one than this cluster's.
		return to.rest(w, r)
	}
	may, err := a.decide(r.Context(), attributes.GetUser(), questionOf(info))
	switch {
	case err != nil:
		return undecided("your permissions", err)
	case !may:
		m.refusal(http.StatusForbidden)
		responsewriters.Forbidden(attributes, w, r, "", codecs)
		return nil
	default:
		return to.rest(w, r)
	}
}

// may checks a right that a request needs later than at its beginning. The error is a
// *delivery.ClosedError.
func (a *delegatedAuth) may(ctx context.Context, who user.Info, q question) error {
	may, err := a.decide(ctx, who, q.access())
	switch {
	case err != nil:
		return &delivery.ClosedError{Reason: undecidedReason(err), Message: undecided("your permissions", err).ErrStatus.Message}
	case !may:
		return &delivery.ClosedError{Reason: reason.Forbidden, Message: "you may not " + q.String()}
	default:
		return nil
	}
}

// retryAfter is the Retry-After in seconds while the API server does not answer.
const retryAfter = 5

// undecided returns the Status for a request whose credentials or permissions could not be
// checked. The client's error is left out, since it contains addresses.
func undecided(subject string, err error) *apierrors.StatusError {
	if errors.Is(err, errTooManyQuestions) {
		return apierrors.NewTooManyRequests("too many of your requests wait for the API server to check "+subject+"; try again later", 1)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable,
		Message: "the API server cannot check " + subject + " now; try again later",
		Details: &metav1.StatusDetails{RetryAfterSeconds: retryAfter},
	}}
}

func undecidedReason(err error) reason.Reason {
	if errors.Is(err, errTooManyQuestions) {
		return reason.TooManyRequests
	}
	return reason.Unavailable
}

// withAuthErrors stores in a request's credentials why they could not be checked, and logs
// why they are rejected. It does not return the error, which apiserver's filter would log
// with a stack trace for each expired token. Unauthenticated clients decide how many errors
// there are and how long they are, since an error may repeat a certificate. So only some are
// logged, none in full; the metric of refused requests counts all.
func withAuthErrors(next authenticator.Request, logger logr.Logger) authenticator.Request {
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
				logger.Info("Rejected credentials", "reason", delivery.Bounded(err.Error()), "address", clientFrom(r.Context()).address)
			})
			err = nil
		}
		return answer, ok, err
	})
}

// unauthenticated answers a request that was not authenticated: 401, or 503 or 429 if the
// credentials could not be checked.
func unauthenticated(m *metrics) handlerFunc {
	unauthorized := filters.Unauthorized(codecs)
	return func(w http.ResponseWriter, r *http.Request) error {
		closeUnauthenticated(w, r)
		if kept := credentialsFrom(r.Context()); kept != nil && kept.undecided != nil {
			return undecided("your credentials", kept.undecided)
		}
		m.refusal(http.StatusUnauthorized)
		unauthorized.ServeHTTP(w, r)
		return nil
	}
}

// refuseImpersonation returns a Status for a request with Impersonate-* headers on the operator's own port. Only the
// API server can authorize impersonation; without it, users would take their own graph for
// the other user's.
func refuseImpersonation(r *http.Request) error {
	if credentialsFrom(r.Context()).own() == nil {
		return nil
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			return status(http.StatusForbidden, metav1.StatusReasonForbidden, names.GraphName{},
				"the header "+name+" is not supported on this port; ask through the API server, which impersonates, for instance with kubectl --as")
		}
	}
	return nil
}

// withOwner counts the connection of an authenticated request for its user. A connection of
// the front proxy carries requests of many users, and counts for none.
func (s *Server) withOwner(next http.Handler) http.Handler {
	return s.answering(func(w http.ResponseWriter, r *http.Request) error {
		if who, ok := request.UserFrom(r.Context()); ok {
			owner := budget.UserOwner(who)
			if kept := credentialsFrom(r.Context()); kept != nil && kept.proxied {
				owner = budget.Owner{}
			}
			if err := admission.Authenticated(r.Context(), owner); err != nil {
				w.Header().Set("Connection", "close")
				return notAdmitted(err)
			}
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

// closeUnauthenticated closes the connection after the answer, unless an earlier request on
// it was authenticated.
func closeUnauthenticated(w http.ResponseWriter, r *http.Request) {
	if admission.Unauthenticated(r.Context()) {
		w.Header().Set("Connection", "close")
	}
}
