package stream

import (
	"context"
	"net"
	"sync"
)

// Pipe is a listener in memory, for Options.Listener: only this process connects to it, with
// Dial. Make it with NewPipe.
type Pipe struct {
	conns chan net.Conn
	close func()
	done  chan struct{} // closed by Close
}

// NewPipe returns an open Pipe.
func NewPipe() *Pipe {
	p := &Pipe{conns: make(chan net.Conn), done: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.done) })
	return p
}

// Dial connects. The network and the address do not matter, so it fits rest.Config.
func (p *Pipe) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Connections stay open.
func (p *Pipe) Close() error {
	p.close()
	return nil
}

// Addr implements net.Listener.
func (p *Pipe) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
