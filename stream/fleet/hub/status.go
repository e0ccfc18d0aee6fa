package hub

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"graphview.dev/stream"
	"graphview.dev/stream/fleet/identity"
)

// Reason is one word about the connection of a link.
type Reason string

// The reasons of a link.
const (
	Connected      Reason = "Connected"
	NeverConnected Reason = "NeverConnected"
	Lost           Reason = "Lost"
	Suspended      Reason = "Suspended"
	UnknownKey     Reason = "UnknownKey"
	WrongSubject   Reason = "WrongSubject"
	Undiscovered   Reason = "DiscoveryFailed"
)

// Status is the state of a link.
type Status struct {
	// Ambiguous reports whether another link has the same identity.
	Ambiguous bool
	// Tunnels is their number, and Version the oldest version of the member's replicas.
	Tunnels int
	Version string
	// Reason is Connected, or the reason why the cluster is not. Message has details, if there are any.
	Reason  Reason
	Message string
}

// Status returns the state of a link; false if there is none.
func (h *Hub) Status(name string) (Status, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.links[name]
	if l == nil || !l.removed.IsZero() {
		return Status{}, false
	}
	s := Status{Ambiguous: len(h.twinsLocked(l)) > 0}
	for _, r := range l.routes {
		if r.conn == nil {
			continue
		}
		s.Tunnels++
		if s.Version == "" || semver.Compare(r.version, s.Version) < 0 {
			s.Version = r.version
		}
	}
	switch {
	case l.Suspended:
		s.Reason = Suspended
	case s.Tunnels > 0:
		s.Reason = Connected
	case l.refused != nil:
		s.Reason, s.Message = reasonOf(l.refused), l.refused.Error()
	case l.lost:
		s.Reason = Lost
	default:
		s.Reason = NeverConnected
	}
	return s, true
}

// Clusters implements stream.Fleet.
func (h *Hub) Clusters() []stream.ClusterStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]stream.ClusterStatus, 0, len(h.links))
	for name, l := range h.links {
		if !l.removed.IsZero() {
			continue
		}
		status := stream.ClusterStatus{Name: name, DisplayName: l.DisplayName, Aliases: l.Aliases, Connected: l.connected()}
		if l.lost {
			status.Since = l.since
		}
		all = append(all, status)
	}
	slices.SortFunc(all, func(a, b stream.ClusterStatus) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// reasonOf returns the reason of a refused handshake.
func reasonOf(err error) Reason {
	switch {
	case errors.Is(err, identity.ErrDiscovery):
		return Undiscovered
	case errors.Is(err, identity.ErrClaims):
		return WrongSubject
	default:
		return UnknownKey
	}
}
