package replicas

import (
	"crypto/tls"
	"fmt"
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
	address := ""
	for _, address = range leases(t) {
		break
	}
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
			connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, Certificates: certificates, NextProtos: []string{"h2"}})
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
	for _, address := range leases(t) {
		for range 520 {
			connection, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()
		}
		break
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
	s.declare(home, "calm", fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "resource == 'configmaps'"}}], namespaces: {names: [%s]}}`, home))
	for _, edge := range edges {
		s.equal([]*reader{read(t, cluster.Config(), edge, home, "calm")})
	}
}
