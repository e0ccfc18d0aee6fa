package hub

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"graphview.dev/graphview/budget"
	"graphview.dev/stream/admission"
	"graphview.dev/stream/fleet/identity"
	"graphview.dev/stream/fleet/tunnel"
)

const (
	// tunnelsPerLink, tunnelsInAll and acceptedPerSecond bound the tunnels of this replica.
	tunnelsPerLink    = 8
	tunnelsInAll      = 5000
	acceptedPerSecond = 200
	// handshakeWithin bounds the verification of a token.
	handshakeWithin = 10 * time.Second
)

// TunnelPath is the path of handshakes, which the name of the link follows.
const TunnelPath = "/tunnel/v1/clusters/"

var words = regexp.MustCompile(`^[A-Za-z0-9._+-]{1,128}$`)

// refusal is the answer to a handshake.
type refusal struct {
	code    int
	reason  string // of the metric
	message string
}

// Handler serves the handshakes of members. A tunnel ends with the request that has made it.
func (h *Hub) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+TunnelPath+"{cluster}", func(w http.ResponseWriter, r *http.Request) {
		if refused := h.serve(w, r); refused != nil {
			h.metrics.refused.WithLabelValues(refused.reason).Inc()
			if refused.code == http.StatusTooManyRequests || refused.code == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", "5")
			}
			// A load balancer may use the connection of a refused upgrade again.
			w.Header().Set("Connection", "close")
			http.Error(w, refused.message, refused.code)
		}
	})
	return mux
}

var (
	refusedBusy     = &refusal{http.StatusTooManyRequests, "Busy", "too many tunnels; try again later"}
	refusedIdentity = &refusal{http.StatusUnauthorized, "Identity", "the token does not prove the member of this link; see the conditions of the ClusterLink"}
	refusedHeader   = &refusal{http.StatusBadRequest, "Malformed", "the request is not of a member"}
	refusedClash    = &refusal{http.StatusConflict, "Clash", "this replica has a tunnel of this instance"}
	refusedSuspend  = &refusal{http.StatusForbidden, "Suspended", "the link is suspended"}
	refusedStarting = &refusal{http.StatusServiceUnavailable, "Unavailable", "the hub has just started and does not know its links yet"}
	refusedNow      = &refusal{http.StatusServiceUnavailable, "Unavailable", "the issuer of the token cannot be asked for its keys now"}
)

// serve decides everything before the connection is upgraded. It returns when the tunnel has
// ended.
func (h *Hub) serve(w http.ResponseWriter, r *http.Request) *refusal {
	instance, version := r.Header.Get(tunnel.InstanceHeader), r.Header.Get(tunnel.VersionHeader)
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !ok:
		return refusedIdentity
	case !words.MatchString(instance) || !words.MatchString(version):
		return refusedHeader
	}
	name := r.PathValue("cluster")
	verifier, proof, refused := h.verify(r.Context(), name, token)
	if refused != nil {
		return refused
	}
	_ = admission.Authenticated(r.Context(), budget.Owner{}) // never fails without an owner
	w.Header().Set(tunnel.ReplicasHeader, strconv.Itoa(h.replicas()))
	replaces := r.Header.Get(tunnel.ReplacesHeader)
	to := &route{id: rand.Text(), link: name, instance: instance, version: version, proof: proof}
	if refused := h.reserve(verifier, to, replaces); refused != nil {
		return refused
	}
	defer h.serving.Done()
	var conn *tunnel.Conn
	defer func() {
		h.drop(to) // before the end of the tunnel, for which Silent waits
		if conn != nil {
			conn.Close()
		}
	}()
	// Strangers, and members that have a tunnel already, do not use up the tunnels of others.
	if !h.limit.Allow() {
		return refusedBusy
	}
	var err error
	if conn, err = tunnel.Accept(w, r, tunnel.AcceptOptions{
		ID: to.id, Lifetime: time.Until(proof.Expiry), Windows: &h.windows, Answered: func() { h.answered(name) },
	}); err != nil {
		return nil // it was answered
	}
	if !h.ready(to, conn, replaces) {
		return nil
	}
	h.metrics.tunnels.Inc()
	defer h.metrics.tunnels.Dec()
	h.o.Logger.Info("Tunnel opened", "link", name, "tunnel", to.id, "version", version)
	over := time.NewTimer(time.Until(proof.Expiry))
	defer over.Stop()
	select {
	case <-conn.Down():
	case <-over.C: // the token has expired
	}
	h.o.Logger.Info("Tunnel ended", "link", name, "tunnel", to.id)
	return nil
}

// verifierLocked returns the Verifier of a link; nil if no token proves its member.
func (h *Hub) verifierLocked(name string) *identity.Verifier {
	if l := h.links[name]; l != nil && len(h.twinsLocked(l)) == 0 {
		return l.verifier
	}
	return nil
}

// verify returns the Verifier with which the token proves the member of a link. A name without
// a link has the same answer as a wrong token.
func (h *Hub) verify(ctx context.Context, name, token string) (*identity.Verifier, identity.Proof, *refusal) {
	h.mu.Lock()
	verifier, known := h.verifierLocked(name), h.known()
	h.mu.Unlock()
	switch {
	case verifier == nil && !known:
		return nil, identity.Proof{}, refusedStarting
	case verifier == nil:
		return nil, identity.Proof{}, refusedIdentity
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeWithin)
	defer cancel()
	proof, err := verifier.Verify(ctx, token, h.o.Name)
	switch {
	case err == nil:
		return verifier, proof, nil
	case ctx.Err() != nil:
		return nil, proof, refusedNow
	}
	h.noteRefusal(name, verifier, err)
	if errors.Is(err, identity.ErrDiscovery) {
		return nil, proof, refusedNow
	}
	return nil, proof, refusedIdentity
}

// answered wakes up the requests for a link whose silent member has answered.
func (h *Hub) answered(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.links[name]; l != nil {
		l.announceLocked()
	}
}

// noteRefusal records why a member was refused, for the status of its link.
func (h *Hub) noteRefusal(name string, verifier *identity.Verifier, err error) {
	h.mu.Lock()
	if h.verifierLocked(name) != verifier {
		h.mu.Unlock()
		return
	}
	l := h.links[name]
	before := l.refused
	l.refused = err
	h.mu.Unlock()
	if before == nil || reasonOf(before) != reasonOf(err) {
		h.o.Notify(name)
	}
}

// reserve adds a route whose handshake has not ended. It refuses one beyond the limits, a
// second one of a member's replica, and one of an identity that the link has no longer. The
// caller drops the route, and then is done with serving.
func (h *Hub) reserve(verifier *identity.Verifier, to *route, replaces string) *refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.links[to.link]
	switch {
	case h.closed:
		return refusedNow
	case h.verifierLocked(to.link) != verifier:
		return refusedIdentity
	case l.Suspended:
		return refusedSuspend
	}
	for _, r := range l.routes {
		if r.instance == to.instance && r.id != replaces && !r.draining {
			return refusedClash
		}
	}
	if len(l.routes) >= tunnelsPerLink || h.tunnels >= tunnelsInAll {
		return refusedBusy
	}
	h.serving.Add(1)
	l.routes = append(l.routes, to)
	h.tunnels++
	return nil
}
