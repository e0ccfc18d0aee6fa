package offline

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"graphview.dev/stream"
)

// Server answers the requests of clients of an API server: discovery, lists, watches, schemas, and
// reviews of rights, which it all grants.
type Server struct {
	pipe *stream.Pipe

	mu      sync.Mutex
	current *Manifests
	kinds   []Kind
	objects map[Key]*stored
	version int64
	// events are the newest, by version. Those up to forgotten are no longer there.
	events    []event
	forgotten int64
	changed   chan struct{} // closed at the next change
}

// NewServer returns a Server of manifests.
func NewServer(m *Manifests) *Server {
	s := &Server{pipe: stream.NewPipe(), objects: map[Key]*stored{}, changed: make(chan struct{})}
	s.Replace(m)
	s.events, s.forgotten = nil, s.version // no watch begins before
	return s
}

// Config reaches the server, in memory.
func (s *Server) Config() *rest.Config {
	return &rest.Config{
		Host: "http://manifests", Dial: s.pipe.Dial, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }, QPS: -1, DisableCompression: true,
	}
}

// Manifests returns the manifests that are served.
func (s *Server) Manifests() *Manifests {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(s.pipe); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/selfsubjectaccessreviews"):
		review := &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}}
		review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(review) // the client has gone
	case r.Method != http.MethodGet:
		refuse(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "manifests are only read")
	case path == "/api" || path == "/apis":
		s.discovery(w, path == "/api")
	case path == "/version":
		answer(w, map[string]any{"gitVersion": "v0.0.0-manifests"})
	case path == "/readyz":
		_, _ = w.Write([]byte("ok"))
	case strings.HasPrefix(path, "/openapi/v3"):
		s.openAPI(w, strings.TrimPrefix(strings.TrimPrefix(path, "/openapi/v3"), "/"))
	default:
		s.resource(w, r, path)
	}
}

// answer writes an object.
func answer(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object) // the client has gone
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{ // the client has gone
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: reason, Code: int32(code), Message: message, //nolint:gosec // an HTTP status
	})
}
