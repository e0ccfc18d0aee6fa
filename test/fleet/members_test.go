package fleet

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"graphview.dev/stream/fleet/hub"
	"graphview.dev/stream/fleet/identity"
	"graphview.dev/stream/fleet/tunnel"
)

// simulated is the number of members of BenchmarkMembers.
const simulated = 1000

// membersEnv has the directory in which a process finds what its simulated members need.
const membersEnv = "GRAPHVIEW_SIMULATED_MEMBERS"

func simulatedLink(i int) string { return fmt.Sprintf("member-%04d", i) }
func simulatedSubject(i int) string {
	return fmt.Sprintf("system:serviceaccount:default:member-%04d", i)
}

// runMembers runs simulated members until stdin ends. Each has the client of a real one, and answers
// that it has one view. They dial a load balancer that leads them to any replica of the hub.
func runMembers(dir string) error {
	balancer, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go balance(balancer, func() []string { // until the process ends
		text, _ := os.ReadFile(filepath.Join(dir, "hubs")) // without it no hub is there
		return strings.Fields(string(text))
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("{}")) // the hub may have hung up
	})
	var running sync.WaitGroup
	for i := range simulated {
		dialer, err := tunnel.NewDialer(tunnel.Options{
			URL: "wss://" + balancer.Addr().String() + hub.TunnelPath + simulatedLink(i), TokenFile: filepath.Join(dir, simulatedLink(i)), CAFile: filepath.Join(dir, "ca.crt"),
			Instance: fmt.Sprint("run-", i), Version: "v0.1.0", Handler: handler, Logger: logr.Discard(),
		})
		if err != nil {
			return err
		}
		running.Go(func() { _ = dialer.Run(ctx) }) // never fails
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	cancel()
	running.Wait()
	return errors.Join(err, balancer.Close())
}

// heldKiB returns the memory of heap and stacks that is in use.
func heldKiB() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse+m.StackInuse) / 1024
}

// prepareMembers writes the tokens of simulated members, and returns their links.
func prepareMembers(b *testing.B, dir string) []hub.Link {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "key", Algorithm: "ES256", Use: "sig"}}})
	if err != nil {
		b.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "key"}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	links := make([]hub.Link, simulated)
	for i := range links {
		token, err := jwt.Signed(signer).Claims(jwt.Claims{
			Issuer: issuer, Subject: simulatedSubject(i), Audience: jwt.Audience{hubName},
			Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour)), IssuedAt: jwt.NewNumericDate(time.Now()),
		}).Serialize()
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, simulatedLink(i)), []byte(token), 0o600); err != nil {
			b.Fatal(err)
		}
		links[i] = hub.Link{Name: simulatedLink(i), Identity: identity.Options{Issuer: issuer, Subject: simulatedSubject(i), JWKS: string(keys)}}
	}
	return links
}

// BenchmarkMembers measures a hub of three replicas with 1,000 members in another process, each with a
// tunnel to each replica: how long they take to connect, to be connected to the replicas that are left
// when one is lost, and to a new one; the memory of a replica for them; how long the members' answers
// take; and how much later a change of a member reaches a subscriber of the hub meanwhile.
func BenchmarkMembers(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		links := prepareMembers(b, dir)
		all := newMembership(b)
		all.logger = funcr.New(func(string, string) {}, funcr.Options{})
		leave := map[*testHub]func(){}
		var hubs []*testHub
		add := func(name string) *testHub {
			h, leaves := all.start(b, name, links...)
			hubs, leave[h] = append(hubs, h), leaves
			return h
		}
		for _, name := range []string{"a", "b", "c"} {
			add(name)
		}
		before := heldKiB()

		begun := time.Now()
		startMembers(b, dir, hubs)
		complete(b, hubs)
		b.ReportMetric(time.Since(begun).Seconds(), "s-to-connect")
		b.ReportMetric((heldKiB()-before)/3/1024, "MiB/replica")

		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		var took []time.Duration
		for range 2 {
			for i := range simulated {
				asked := time.Now()
				route, err := hubs[i%3].Route(ctx, simulatedLink(i), "")
				if err != nil {
					b.Fatal(err)
				}
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://member/", http.NoBody)
				if err != nil {
					b.Fatal(err)
				}
				response, err := route.RoundTrip(request)
				if err != nil {
					b.Fatal(err)
				}
				if err := response.Body.Close(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(asked))
			}
		}
		cancel()
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-answer-p50")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-answer-p99")
		added := changesOf(b, hubs[0], 200)
		b.ReportMetric(float64(added[len(added)/2].Microseconds()), "µs-added-p50")
		b.ReportMetric(float64(added[len(added)*99/100].Microseconds()), "µs-added-p99")

		begun = time.Now()
		hubs[2].tunnels.CloseClientConnections()
		leave[hubs[2]]()
		hubs = hubs[:2]
		writeHubs(b, dir, hubs)
		complete(b, hubs)
		b.ReportMetric(time.Since(begun).Seconds(), "s-to-level")
		begun = time.Now()
		joined := add("d")
		writeHubs(b, dir, hubs)
		complete(b, []*testHub{joined})
		b.ReportMetric(time.Since(begun).Seconds(), "s-to-join")
	}
}

// writeHubs writes the addresses and the CAs of replicas for the process of simulated members.
func writeHubs(b *testing.B, dir string, hubs []*testHub) {
	b.Helper()
	var addresses, authorities []string
	for _, h := range hubs {
		addresses = append(addresses, h.tunnels.Listener.Addr().String())
		text, err := os.ReadFile(h.caFile)
		if err != nil {
			b.Fatal(err)
		}
		authorities = append(authorities, string(text))
	}
	for name, lines := range map[string][]string{"hubs": addresses, "ca.crt": authorities} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// startMembers runs this test again, as the process of simulated members, until b ends.
func startMembers(b *testing.B, dir string, hubs []*testHub) {
	b.Helper()
	writeHubs(b, dir, hubs)
	members := exec.Command(os.Args[0])
	members.Env, members.Stderr = append(os.Environ(), membersEnv+"="+dir), os.Stderr
	stop, err := members.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := members.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(stop.Close(), members.Wait()); err != nil {
			b.Error(err)
		}
	})
}

// complete waits until all simulated members are connected to each of some replicas.
func complete(b *testing.B, hubs []*testHub) {
	b.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		left := 0
		for _, h := range hubs {
			for _, cluster := range h.Clusters() {
				if !cluster.Connected && strings.HasPrefix(cluster.Name, "member-") {
					left++
				}
			}
		}
		if left == 0 {
			return
		}
		if time.Since(begun) > 5*time.Minute {
			b.Fatalf("%d members are not connected", left)
		}
	}
}
