package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview/access"
)

// checkSole refuses options that would serve the only user's graphs to others.
func (o *Options) checkSole() error {
	switch {
	case o.Sole == nil && o.Listener == nil:
		return nil
	case o.Sole == nil:
		return errors.New("a listener without TLS is for the only user: name the user in Sole")
	case o.Listener == nil:
		return errors.New("every request would be the only user's: Sole needs a Listener in memory")
	}
	switch network := o.Listener.Addr().Network(); network {
	case "tcp", "tcp4", "tcp6", "unix", "unixpacket":
		return fmt.Errorf("other processes reach a listener of network %s: Sole needs a Listener in memory", network)
	}
	return nil
}

// soleAuth authenticates every request as the same user and allows it everything: the engine
// has only objects that this user may list.
func soleAuth(who user.Info) *delegatedAuth {
	yes := func(context.Context, user.Info, access.Question) (bool, error) { return true, nil }
	return &delegatedAuth{
		authenticator: authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
			return &authenticator.Response{User: who}, true, nil
		}),
		decide: yes, review: yes,
	}
}

// listen returns the listener of a server.
func (o *Options) listen() (net.Listener, error) {
	if o.Listener != nil {
		return o.Listener, nil
	}
	return net.Listen("tcp", o.BindAddress)
}

// serve serves connections of the listener, over TLS unless they are in memory.
func (s *Server) serve(server *http.Server) error {
	if s.options.Listener != nil {
		return server.Serve(s.listener)
	}
	return server.ServeTLS(s.listener, "", "")
}
