package hostile

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
)

// account makes a ServiceAccount that may do what a ClusterRole says, and returns its
// credentials.
func account(t *testing.T, namespace, name, role string) *rest.Config {
	t.Helper()
	if err := cluster.CreateServiceAccount(t.Context(), namespace, name); err != nil {
		t.Fatal(err)
	}
	admin := fixture.Client(t, adminConfig())
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}
	if err := admin.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}); err != nil {
		t.Fatal(err)
	}
	granted := &rbacv1.ClusterRole{}
	if err := admin.Get(t.Context(), kube.ObjectKey{Name: role}, granted); err != nil {
		t.Fatal(err)
	}
	fixture.Authorized(t, admin, subjects, "", granted.Rules...)
	config, err := cluster.ServiceAccountConfig(t.Context(), namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	config.ServerName = "localhost"
	return config
}

// modest asks for a graph four times a second, from an address of its own, until it is
// told to stop, and counts the answers.
type modest struct {
	stop func()

	mu    sync.Mutex
	codes map[int]int
	worst time.Duration
}

func newModest(t *testing.T, config *rest.Config, path string) *modest {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: fixture.TLS(t, config),
		DialContext:     (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext,
	}}
	ctx, cancel := context.WithCancel(t.Context())
	m := &modest{codes: map[int]int{}}
	var asking sync.WaitGroup
	asking.Go(func() {
		pace := time.NewTicker(250 * time.Millisecond)
		defer pace.Stop()
		for {
			began := time.Now()
			code := 0
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, manager.URL()+path, http.NoBody)
			if err == nil {
				request.Header.Set("Authorization", "Bearer "+config.BearerToken)
				var response *http.Response
				if response, err = client.Do(request); err == nil {
					code = response.StatusCode
					_ = response.Body.Close()
				}
			}
			if ctx.Err() != nil {
				return
			}
			m.mu.Lock()
			m.codes[code]++
			m.worst = max(m.worst, time.Since(began))
			m.mu.Unlock()
			select {
			case <-pace.C:
			case <-ctx.Done():
				return
			}
		}
	})
	m.stop = func() {
		cancel()
		asking.Wait()
		client.CloseIdleConnections()
	}
	t.Cleanup(m.stop)
	return m
}

// answers waits for some more answers of a code.
func (m *modest) answers(t *testing.T, code, more int) {
	t.Helper()
	count := func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.codes[code]
	}
	want := count() + more
	eventually(t, func() string {
		if n := count(); n < want {
			return fmt.Sprintf("%d answers of %d, want %d", n, code, want)
		}
		return ""
	})
}

// seen says what the answers were since the last call.
func (m *modest) seen() (codes map[int]int, worst time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	codes, worst = m.codes, m.worst
	m.codes, m.worst = map[int]int{}, 0
	return codes, worst
}

// wantOnly wants all answers since the last look to have had one of the codes.
func (m *modest) wantOnly(t *testing.T, when string, allowed ...int) {
	t.Helper()
	codes, worst := m.seen()
	t.Logf("somebody modest, %s: answers by code %v, the slowest after %s", when, codes, worst.Round(time.Millisecond))
	for _, code := range allowed {
		delete(codes, code)
	}
	if len(codes) > 0 {
		t.Errorf("%s, somebody modest got %v", when, codes)
	}
}

// TestFloodOfTokens: a client that guesses tokens, hundreds at a time on each of many
// connections, does not delay other users.
func TestFloodOfTokens(t *testing.T) {
	namespace := newNamespace(t, "tokens")
	apply(t, small(namespace, "one"))
	wantReady(t, namespace, "one")
	alice := account(t, namespace, "alice", "graphview-viewer")
	path := "/apis/stream.graphview.dev/v1alpha1/namespaces/" + namespace + "/graphs/one"
	strange := fixture.TLS(t, credentials(""))
	meanwhile(t, func(tries *tally) {
		m := newModest(t, alice, path)
		m.answers(t, http.StatusOK, 4)
		const connections, each = 12, 240
		var all sync.WaitGroup
		for range connections {
			transport := &http.Transport{TLSClientConfig: strange.Clone(), ForceAttemptHTTP2: true, MaxConnsPerHost: 1}
			all.Go(func() {
				defer transport.CloseIdleConnections()
				inParallel(each, each, func(int) {
					ctx, cancel := context.WithTimeout(t.Context(), patience.For(within))
					defer cancel()
					request, err := http.NewRequestWithContext(ctx, http.MethodGet, manager.URL()+path, http.NoBody)
					if err != nil {
						t.Error(err)
						return
					}
					request.Header.Set("Authorization", "Bearer "+rand.Text())
					response, err := transport.RoundTrip(request)
					if err != nil {
						tries.add("cut") // after a refusal, the server gives a connection of HTTP/2 up
						return
					}
					_ = response.Body.Close()
					tries.add(fmt.Sprintf("HTTP %d", response.StatusCode))
					if response.StatusCode == http.StatusOK {
						t.Error("a guess was right")
					}
				})
			})
		}
		all.Wait()
		m.answers(t, http.StatusOK, 4)
		tries.measure(t)
		// 401 and 429 would be another's fault; 503 is an API server that takes ten seconds.
		m.wantOnly(t, "during the flood", http.StatusOK, http.StatusServiceUnavailable)
	})
}

// TestExportsAtOnce: one user has some exports at a time, and is told so, whatever it
// asks for; others have theirs.
func TestExportsAtOnce(t *testing.T) {
	namespace := newNamespace(t, "exports")
	claimEachOther(t, namespace, 300, 100)
	apply(t, small(namespace, "all"))
	path := manager.URL() + "/apis/stream.graphview.dev/v1alpha1/namespaces/" + namespace + "/graphs/all?format=dot"
	meanwhile(t, func(tries *tally) {
		hog := client(t, "exporter")
		// The first requests come before the view has synced, when its size is unknown.
		inParallel(30, 30, func(int) {
			code, _ := get(t, hog, path)
			tries.add(fmt.Sprintf("HTTP %d", code))
		})
		tries.measure(t)
		if done, refused := tries.count("HTTP 200"), tries.count("HTTP 429"); done == 0 || done+refused != 30 {
			t.Errorf("%d were answered and %d refused of 30", done, refused)
		}
		if code, text := get(t, client(t, "modest"), path); code != http.StatusOK {
			t.Errorf("somebody else: %d %.300s", code, text)
		}
	})
	clearConfigMaps(t, namespace, "")
}
