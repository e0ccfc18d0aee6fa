package stream

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"

	"graphview.dev/graphview/budget"
)

var (
	unknownConnections = budget.Declare("unknown_connections", "connections on which nobody has been authenticated yet", 2000)
	addressConnections = budget.Declare("unknown_connections_per_address", "connections from one address on which nobody has been authenticated yet", 500)
	userConnections    = budget.Declare("connections_per_user", "connections of one user, or of the ServiceAccounts of one namespace", 1500)
)

// unknownFor is how long a connection may last on which nobody is authenticated: a
// handshake, a header and a TokenReview take less.
const unknownFor = 30 * time.Second

// visitors is a listener that bounds connections: of each user and, as long as
// nobody knows whose they are, of each address and in all. Where there are too many
// strangers the one that has been there for longest goes, since whoever means to
// say who it is has done so by then.
type visitors struct {
	net.Listener
	known *budget.Shares[budget.Owner]

	mu        sync.Mutex
	strangers list.List // of *visitor, in the order in which they came
	addresses map[string]int
}

// visitor is one connection.
type visitor struct {
	net.Conn
	home    *visitors
	address string

	// home.mu guards these.
	place *list.Element // among strangers; nil: it is none, or closed
	timer *time.Timer   // that ends a stranger
	owner budget.Owner  // zero before authentication
	over  bool
}

func newVisitors(l net.Listener) *visitors {
	return &visitors{Listener: l, known: budget.NewShares[budget.Owner](userConnections), addresses: map[string]int{}}
}

// Accept implements net.Listener.
func (v *visitors) Accept() (net.Conn, error) {
	conn, err := v.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return v.receive(conn), nil
}

func (v *visitors) receive(conn net.Conn) *visitor {
	address, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		address = conn.RemoteAddr().String()
	}
	one := &visitor{Conn: conn, home: v, address: address}
	v.mu.Lock()
	var evicted *visitor
	switch {
	case v.addresses[address] >= int(addressConnections.Limit()):
		_ = addressConnections.Exceed() // nobody is there to be told
		evicted = v.oldestLocked(address)
	case v.strangers.Len() >= int(unknownConnections.Limit()):
		_ = unknownConnections.Exceed()
		evicted = v.oldestLocked(v.crowdedLocked())
	}
	one.place = v.strangers.PushBack(one)
	v.addresses[address]++
	one.timer = time.AfterFunc(unknownFor, func() { _ = one.Close() })
	v.mu.Unlock()
	if evicted != nil {
		_ = evicted.Close()
	}
	return one
}

func (v *visitors) oldestLocked(address string) *visitor {
	for e := v.strangers.Front(); e != nil; e = e.Next() {
		if one := e.Value.(*visitor); one.address == address { //nolint:forcetypeassert // all that the list has
			v.forgetLocked(one)
			return one
		}
	}
	return nil
}

// crowdedLocked is the address from which most strangers are.
func (v *visitors) crowdedLocked() string {
	most, count := "", 0
	for address, n := range v.addresses {
		if n > count {
			most, count = address, n
		}
	}
	return most
}

// forgetLocked takes a visitor from the strangers, if it is one.
func (v *visitors) forgetLocked(one *visitor) {
	if one.place == nil {
		return
	}
	one.timer.Stop()
	v.strangers.Remove(one.place)
	one.place, one.timer = nil, nil
	if v.addresses[one.address]--; v.addresses[one.address] == 0 {
		delete(v.addresses, one.address)
	}
}

// authenticated counts a connection as one of the owner who is authenticated on it
// first; the zero Owner has no share. It returns a Status if the owner has too many.
func (one *visitor) authenticated(owner budget.Owner) error {
	v := one.home
	v.mu.Lock()
	defer v.mu.Unlock()
	if one.place == nil {
		return nil
	}
	if owner != (budget.Owner{}) {
		if err := v.known.Take(owner, 1); err != nil {
			return tooMany(err)
		}
	}
	one.owner = owner
	v.forgetLocked(one)
	return nil
}

// Close implements net.Conn.
func (one *visitor) Close() error {
	one.home.leave(one)
	return one.Conn.Close()
}

func (v *visitors) leave(one *visitor) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if one.over {
		return
	}
	one.over = true
	v.forgetLocked(one)
	if one.owner != (budget.Owner{}) {
		v.known.Give(one.owner, 1)
	}
}

// BoundStrangers returns a listener that bounds connections on which nobody is known
// yet, as a Server's does. It is for a server whose handler is called only for whoever
// has proven in the TLS handshake who it is.
func BoundStrangers(server *http.Server, l net.Listener) net.Listener {
	next := server.Handler
	server.ConnContext = withVisitor
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if one, ok := r.Context().Value(visitorKey{}).(*visitor); ok {
			_ = one.authenticated(budget.Owner{}) // replicas have no share
		}
		next.ServeHTTP(w, r)
	})
	return newVisitors(l)
}

type visitorKey struct{}

// withVisitor is for http.Server.ConnContext.
func withVisitor(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if one, ok := conn.(*visitor); ok {
		ctx = context.WithValue(ctx, visitorKey{}, one)
	}
	return ctx
}

// withOwner has the connection of a request, which is authenticated, counted as its
// user's. What the front proxy connects for is many users'.
func (s *Server) withOwner(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one, ok := r.Context().Value(visitorKey{}).(*visitor)
		who, authenticated := request.UserFrom(r.Context())
		if ok && authenticated {
			owner := budget.UserOwner(who)
			if kept := credentialsFrom(r.Context()); kept != nil && kept.proxied {
				owner = budget.Owner{}
			}
			if err := one.authenticated(owner); err != nil {
				w.Header().Set("Connection", "close")
				s.refuse(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// closeStranger has the connection of a request that nobody was authenticated for
// closed with its answer, unless somebody was for another one.
func closeStranger(w http.ResponseWriter, r *http.Request) {
	one, ok := r.Context().Value(visitorKey{}).(*visitor)
	if ok && one.isStranger() {
		w.Header().Set("Connection", "close")
	}
}

func (one *visitor) isStranger() bool {
	one.home.mu.Lock()
	defer one.home.mu.Unlock()
	return one.place != nil
}
