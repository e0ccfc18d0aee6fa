package stream

import (
	"net/http"
	"time"
)

// bodyWithin is how long a request's body may take. Nothing here reads one, but
// net/http does when the answer is given, since the connection may serve other
// requests: without a bound, whoever announces a body and sends none holds a
// connection for ever, and needs to be nobody for it.
const bodyWithin = 10 * time.Second

// impatient cuts those that keep a body back.
func impatient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			// An error means that the connection cannot, which is then not net/http's.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyWithin))
		}
		next.ServeHTTP(w, r)
	})
}
