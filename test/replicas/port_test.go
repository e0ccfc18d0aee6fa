package replicas

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// TestStrangersAtTheRelayPort: a client without a certificate of the replicas reads nothing
// from the relay port, whatever its other rights.
func TestStrangersAtTheRelayPort(t *testing.T) {
	settled(t, edges)
	dir := t.TempDir()
	if err := cluster.ServingCertificate(dir, "graphview-relay"); err != nil {
		t.Fatal(err)
	}
	forged, err := tls.LoadX509KeyPair(dir+"/tls.crt", dir+"/tls.key")
	if err != nil {
		t.Fatal(err)
	}
	for name, certificates := range map[string][]tls.Certificate{
		"nobody":                        nil,
		"an administrator":              fixture.TLS(t, cluster.Config()).Certificates,
		"the operator itself":           fixture.TLS(t, cluster.ClientConfig("system:serviceaccount:"+env.ServiceNamespace+":graphview-manager")).Certificates,
		"another authority's same name": {forged},
	} {
		t.Run(name, func(t *testing.T) {
			connection, err := tls.Dial("tcp", edges[0].Link.Address(), &tls.Config{InsecureSkipVerify: true, Certificates: certificates, NextProtos: []string{"h2"}})
			if err == nil {
				defer connection.Close()
				if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
					t.Fatal(err)
				}
				// The first thing that a server says to a client of HTTP/2 are its settings.
				_, err = connection.Read(make([]byte, 1))
			}
			if err == nil || !strings.Contains(err.Error(), "tls: ") {
				t.Errorf("the server says %v", err)
			}
		})
	}
}

// TestFloodAtTheRelayPort: who only connects there makes room for who comes, and the
// replicas go on.
func TestFloodAtTheRelayPort(t *testing.T) {
	settled(t, edges)
	for range 520 {
		connection, err := net.Dial("tcp", edges[0].Link.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
	}
	eventually(t, func() string {
		for _, edge := range edges {
			if metric(t, edge, "graphview_limit_exceeded_total", "limit", "unknown_connections") > 0 {
				return ""
			}
		}
		return "no replica has counted too many strangers"
	})
	s := newScene(t, 1)
	home := s.namespaces[0]
	s.declare(home, "calm", "resource == 'configmaps'", home)
	for _, edge := range edges {
		s.equal([]*reader{read(t, cluster.Config(), edge, home, "calm")})
	}
}
