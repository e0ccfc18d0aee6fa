package stream

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// withAllowedOrigins lets pages of the allowed origins read the answers to requests with a
// token: graphs, lists, server-sent events and errors. Browsers send no cookies and client
// certificates with these.
func (s *Server) withAllowedOrigins(next http.Handler) http.Handler {
	if len(s.options.AllowedOrigins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if origin == "" || !originAllowed(s.options.AllowedOrigins, origin) {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Retry-After")
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		// A preflight: a browser asks without credentials whether it may send a token.
		h.Set("Access-Control-Allow-Methods", http.MethodGet)
		h.Set("Access-Control-Allow-Headers", "Accept, Authorization, Cache-Control, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
	})
}

// originAllowed matches as package websocket does: a host, or with a scheme.
func originAllowed(patterns []string, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	for _, pattern := range patterns {
		what := u.Host
		if strings.Contains(pattern, "://") {
			what = u.Scheme + "://" + u.Host
		}
		// A pattern that is malformed matches nothing.
		if ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(what)); ok && err == nil {
			return true
		}
	}
	return false
}
