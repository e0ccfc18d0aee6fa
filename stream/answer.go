package stream

import (
	"context"
	"net/http"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview/budget"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/transport"
)

const (
	// requestBytes is the memory of a request under way: its goroutine, header and contexts.
	requestBytes = 16 << 10
	// answerTakes bounds the time in which a client reads an answer that is written as a whole.
	answerTakes = 30 * time.Second
	// streamsPerConnection bounds the requests under way on one connection of HTTP/2. A client
	// that has more opens another connection.
	streamsPerConnection = 32
)

// withRequestCharged charges each request under way to its user, as long as its handler runs.
// WebSockets are charged as connections.
func (s *Server) withRequestCharged(next http.Handler) http.Handler {
	return s.answering(func(w http.ResponseWriter, r *http.Request) error {
		who, ok := request.UserFrom(r.Context())
		if !ok {
			next.ServeHTTP(w, r)
			return nil
		}
		account := s.options.Ledger.Account(budget.UserOwner(who))
		defer account.Close()
		if err := account.Set(budget.Connections, requestBytes); err != nil {
			return notAdmitted(err)
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

// answer writes an answer as a whole: a list, a document, an object or an impact. The user pays
// for its bytes until the client has taken them or its time is over, and of all clients those
// that have taken longest are cut when too many bytes wait. The error is
// a Status for a user without room.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, cacheControl string, parts ...[]byte) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if who, ok := request.UserFrom(r.Context()); ok {
		account := s.options.Ledger.Account(budget.UserOwner(who))
		defer account.Close()
		if err := account.Set(budget.Messages, int64(size)); err != nil {
			return notAdmitted(err)
		}
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", cacheControl)
	out := transport.NewResponse(w)
	pending := admission.PendingWrite{Cut: out.Cut}
	s.writes.BeginUnread(&pending, int64(size))
	defer s.writes.End(&pending)
	ctx, cancel := context.WithTimeout(r.Context(), answerTakes)
	defer cancel()
	// An error means that the peer has left, or takes too long.
	_ = out.Write(ctx, parts...)
	return nil
}

// The values of Cache-Control: an answer about graphs is not kept, and a document of discovery
// is asked for again.
const (
	notKept    = "no-store"
	askedAgain = "no-cache, private"
)
