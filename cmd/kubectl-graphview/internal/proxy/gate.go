package proxy

import (
	"crypto/subtle"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"sync"
)

const openPath = "/open/"

// gate admits one browser.
//
// Browsers send a cookie to all ports of a host, and so to the servers of other users of the machine. They
// send it only below its path, which is why everything is below root, whose name others cannot know. A
// host of its own (NAME.localhost) would do the same, but not all browsers and resolvers know such names.
type gate struct {
	hosts  []string
	root   string // of all paths, without a slash at the end
	cookie string // includes the port, so that two commands do not replace each other's
	value  string

	mu     sync.Mutex
	secret string // in the printed address
	used   bool
}

func newGate(port, name, secret, value string) *gate {
	return &gate{
		root:   "/local-" + name, // by which the page finds the API (dashboard/web/main.js)
		hosts:  []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port},
		cookie: "graphview-" + port, value: value, secret: secret,
	}
}

// guard rejects requests that are not from the admitted browser's own page. A request
// for the printed address gets the cookie and is sent to start. next gets paths without root.
func (g *gate) guard(next http.Handler, start string) http.Handler {
	below := http.StripPrefix(g.root, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !slices.Contains(g.hosts, r.Host):
			refuse(w, http.StatusMisdirectedRequest, "unknown host")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "only GET and HEAD are allowed")
		case strings.HasPrefix(r.URL.Path, g.root+openPath):
			g.open(w, r, start)
		case !sameOrigin(r):
			refuse(w, http.StatusForbidden, "requests of other pages are not allowed")
		case !g.admitted(r) || !strings.HasPrefix(r.URL.Path, g.root+"/"):
			refuse(w, http.StatusUnauthorized, "open the address that kubectl graphview dashboard printed; it works once, so run the command again for another one")
		default:
			below.ServeHTTP(w, r)
		}
	})
}

// open exchanges the secret for the cookie, once. A browser with the cookie needs no secret.
func (g *gate) open(w http.ResponseWriter, r *http.Request, start string) {
	if !g.admitted(r) {
		if !g.take(strings.TrimPrefix(r.URL.Path, g.root+openPath)) {
			refuse(w, http.StatusForbidden, "this address is invalid or was already used; run kubectl graphview dashboard again for another one")
			return
		}
		http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.value, Path: g.root + "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // Secure is for TLS; this is loopback
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// The printed address may be opened from a file. After a redirect, the browser would not
	// send a SameSite=Strict cookie, since the file began the navigation.
	fmt.Fprintf(w, `<!doctype html><meta http-equiv="refresh" content="0;url=%s"><title>GraphView</title>`+"\n", html.EscapeString(start))
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

func (g *gate) admitted(r *http.Request) bool {
	cookie, err := r.Cookie(g.cookie)
	return err == nil && equal(cookie.Value, g.value)
}

// sameOrigin reports whether a request comes from the page itself or from the user.
// A browser says so in Sec-Fetch-Site, and for a WebSocket in Origin.
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
