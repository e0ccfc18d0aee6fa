package relay

import (
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"sync"
)

const openPath = "/open/"

// gate lets one browser in.
type gate struct {
	hosts  []string
	cookie string // its name, of this port: browsers do not tell cookies apart by ports
	value  string

	mu     sync.Mutex
	secret string // of the printed address
	used   bool
}

func newGate(port, secret, value string) *gate {
	return &gate{
		hosts:  []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port},
		cookie: "graphview-" + port, value: value, secret: secret,
	}
}

// guard answers whoever is not to be let in, and gives the cookie to who opens the
// printed address, who is then sent to start.
func (g *gate) guard(next http.Handler, start string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !slices.Contains(g.hosts, r.Host):
			refuse(w, http.StatusMisdirectedRequest, "this is no host of that name")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "nothing can be changed here")
		case strings.HasPrefix(r.URL.Path, openPath):
			g.open(w, r, start)
		case !sameOrigin(r):
			refuse(w, http.StatusForbidden, "another page may not read this")
		case !g.knows(r):
			refuse(w, http.StatusUnauthorized, "open the address that kubectl graphview dashboard printed; it works once: run the command again for another one")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// open takes the secret once. A browser that is known needs none.
func (g *gate) open(w http.ResponseWriter, r *http.Request, start string) {
	if !g.knows(r) {
		if !g.take(strings.TrimPrefix(r.URL.Path, openPath)) {
			refuse(w, http.StatusForbidden, "this address is not valid, or has been used: run kubectl graphview dashboard again for another one")
			return
		}
		http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // Secure is for TLS; this is loopback
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, start, http.StatusFound)
}

func (g *gate) take(secret string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.used || !equal(secret, g.secret) {
		return false
	}
	g.used = true
	return true
}

func (g *gate) knows(r *http.Request) bool {
	cookie, err := r.Cookie(g.cookie)
	return err == nil && equal(cookie.Value, g.value)
}

// sameOrigin is whether a request is the page's own or the user's. A browser says
// so in Sec-Fetch-Site, and in Origin of a WebSocket.
func sameOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	default:
		return false
	}
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func refuse(w http.ResponseWriter, code int, why string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	http.Error(w, why, code)
}
