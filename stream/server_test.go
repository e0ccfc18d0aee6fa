package stream

import (
	"net"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

func TestNewRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"no config":      {Options{Cluster: fakeCluster{}}, "no rest.Config"},
		"no graphs":      {Options{Config: &rest.Config{}}, "no graphs to serve"},
		"no certificate": {Options{Config: &rest.Config{}, Cluster: fakeCluster{}}, "no serving certificate"},
		"address taken": {
			Options{Config: &rest.Config{}, Cluster: fakeCluster{}, GetCertificate: testCertificate, BindAddress: taken.Addr().String()}, "address already in use",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if options, err := test.options.complete(); err == nil {
				if _, err = newServer(options, testAccess()); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v", err)
				}
				return
			}
			if _, err := New(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestReadyEnds: new requests go elsewhere while streams say goodbye.
func TestReadyEnds(t *testing.T) {
	s := serve(t, nil)
	s.stopping.Store(true)
	if code, _ := s.get("/readyz", nil); code != 503 {
		t.Errorf("readyz: %d", code)
	}
	if code, _ := s.get("/livez", nil); code != 200 {
		t.Errorf("livez: %d", code)
	}
}
