package replicas

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"graphview.dev/test/env"
	"graphview.dev/test/fixture"
)

// TestStrangersAtTheRelayPort: who has not the certificate of the replicas reads
// nothing there, whatever else it may do.
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
			connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, Certificates: certificates, NextProtos: []string{"h2"}}) //nolint:gosec // it is the server that is tested
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
