package stream

import (
	"net/http"

	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview/budget"
	"graphview.dev/stream/admission"
)

// withOwner counts the connection of an authenticated request for its user. A connection of
// the front proxy carries requests of many users, and counts for none.
func (s *Server) withOwner(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who, ok := request.UserFrom(r.Context()); ok {
			owner := budget.UserOwner(who)
			if kept := credentialsFrom(r.Context()); kept != nil && kept.proxied {
				owner = budget.Owner{}
			}
			if err := admission.Authenticated(r.Context(), owner); err != nil {
				w.Header().Set("Connection", "close")
				s.refuse(w, r, notAdmitted(err))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// closeUnauthenticated closes the connection after the answer, unless an earlier request on
// it was authenticated.
func closeUnauthenticated(w http.ResponseWriter, r *http.Request) {
	if admission.Unauthenticated(r.Context()) {
		w.Header().Set("Connection", "close")
	}
}
