package admission

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"graphview.dev/graphview/budget"
)

var unknownConnections = budget.Declare("unknown_connections", "connections to one port on which nobody has been authenticated yet", 2000)

// connBytes is the memory of a connection, and of a stream on it that has nothing to send.
const connBytes = 32 << 10

// unknownFor is the time for which a connection may stay unauthenticated: a handshake, a header and a
// TokenReview take less.
const unknownFor = 30 * time.Second

// addressShare bounds the unauthenticated connections of one address to one in addressShare of the free ones: one
// address alone has a quarter of all.
const addressShare = 3

// ConnLimiter is a listener that limits connections: authenticated ones by the memory of their
// owners, unauthenticated ones per address and in all. Beyond the bound of unauthenticated
// connections the oldest one is closed, since a client that means to authenticate has done
// so by then.
type ConnLimiter struct {
	net.Listener
	ledger *budget.Ledger
	// authenticates reports whether a connection that stays unauthenticated is closed.
	authenticates bool

	mu        sync.Mutex
	unknown   list.List // of *trackedConn, oldest first
	addresses map[string]int
}

// trackedConn is one connection.
type trackedConn struct {
	net.Conn
	limiter *ConnLimiter
	address string

	// limiter.mu guards these.
	element *list.Element   // in unknown; nil if the connection is authenticated or closed
	timer   *time.Timer     // closes an unauthenticated connection
	account *budget.Account // of the owner; nil before authentication
	closed  bool
}

// LimitConns returns a limiter of the connections of a listener. Without a ledger, authenticated
// connections are not limited.
func LimitConns(l net.Listener, ledger *budget.Ledger) *ConnLimiter {
	return &ConnLimiter{Listener: l, ledger: ledger, authenticates: true, addresses: map[string]int{}}
}

// LimitStrangers returns a limiter of connections without authentication. The server's own
// timeouts end slow ones.
func LimitStrangers(l net.Listener) net.Listener {
	return &ConnLimiter{Listener: l, addresses: map[string]int{}}
}

// Accept implements net.Listener.
func (l *ConnLimiter) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.Track(conn), nil
}

// Track counts a connection until it is closed.
func (l *ConnLimiter) Track(conn net.Conn) net.Conn {
	address, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		address = conn.RemoteAddr().String()
	}
	c := &trackedConn{Conn: conn, limiter: l, address: address}
	l.mu.Lock()
	var evicted *trackedConn
	if free := unknownConnections.Limit() - int64(l.unknown.Len()); unknownConnections.Admit(int64(l.addresses[address]), free, fewGraphs, addressShare) != nil {
		if free > 0 {
			evicted = l.evictLocked(address)
		} else {
			evicted = l.evictLocked(l.busiestLocked())
		}
	}
	c.element = l.unknown.PushBack(c)
	l.addresses[address]++
	if l.authenticates {
		c.timer = time.AfterFunc(unknownFor, func() { _ = c.Close() })
	}
	l.mu.Unlock()
	if evicted != nil {
		_ = evicted.Close()
	}
	return c
}

// evictLocked removes the oldest unauthenticated connection of an address.
func (l *ConnLimiter) evictLocked(address string) *trackedConn {
	for e := l.unknown.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*trackedConn); c.address == address { //nolint:forcetypeassert // the list has no others
			l.removeLocked(c)
			return c
		}
	}
	return nil
}

// busiestLocked returns the address with the most unauthenticated connections.
func (l *ConnLimiter) busiestLocked() string {
	busiest, most := "", 0
	for address, n := range l.addresses {
		if n > most {
			busiest, most = address, n
		}
	}
	return busiest
}

// removeLocked removes a connection from the unauthenticated ones, if it is among them.
func (l *ConnLimiter) removeLocked(c *trackedConn) {
	if c.element == nil {
		return
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	l.unknown.Remove(c.element)
	c.element, c.timer = nil, nil
	if l.addresses[c.address]--; l.addresses[c.address] == 0 {
		delete(l.addresses, c.address)
	}
}

// Close implements net.Conn.
func (c *trackedConn) Close() error {
	c.limiter.release(c)
	return c.Conn.Close()
}

func (l *ConnLimiter) release(c *trackedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	l.removeLocked(c)
	if c.account != nil {
		c.account.Close()
	}
}

type connKey struct{}

// ConnContext is for http.Server.ConnContext. Authenticated and Unauthenticated take the
// context of a request on the connection.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if c, ok := conn.(*trackedConn); ok {
		ctx = context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// Authenticated charges the connection of a request to an owner. The zero Owner pays
// nothing, as for a connection of the front proxy. The first owner of a connection
// stays. The error is a *budget.Overdrawn.
func Authenticated(ctx context.Context, owner budget.Owner) error {
	c, ok := ctx.Value(connKey{}).(*trackedConn)
	if !ok {
		return nil
	}
	l := c.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.element == nil {
		return nil
	}
	if owner != (budget.Owner{}) && l.ledger != nil {
		account := l.ledger.Account(owner)
		account.OnRelieve(func(*budget.Overdrawn) bool { return c.Close() == nil })
		if err := account.Set(budget.Connections, connBytes); err != nil {
			return err //nolint:wrapcheck // the client reads it
		}
		c.account = account
	}
	l.removeLocked(c)
	return nil
}

// Unauthenticated reports whether no request on the connection has been authenticated.
func Unauthenticated(ctx context.Context) bool {
	c, ok := ctx.Value(connKey{}).(*trackedConn)
	if !ok {
		return false
	}
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	return c.element != nil
}
