package hostile

import (
	"bytes"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"graphview.dev/test/fixture"
	"graphview.dev/test/patience"
	"graphview.dev/test/seed"
)

var three = flag.Duration("three", 10*time.Second, "how long TestThreeAtOnce draws bounds; a round that has begun ends")

// drawn is one of the bounds that a round takes to its limit. Each has a namespace and a user of its own.
type drawn struct {
	t         *testing.T
	namespace string
	user      *http.Client
	random    *rand.Rand
}

func (d *drawn) graph() string {
	return manager.URL() + "/apis/stream.graphview.dev/v1alpha1/namespaces/" + d.namespace + "/graphs/all"
}

// get is a plain request, whatever its answer.
func (d *drawn) get(url string) {
	ctx, cancel := context.WithTimeout(d.t.Context(), patience.For(within))
	defer cancel()
	_, _, _ = fixture.Get(ctx, d.user, url)
}

// create creates an object in the namespace.
func (d *drawn) create(group, resource string, o map[string]any) {
	if _, err := ofGroup(d.t, group, d.namespace, resource).Create(d.t.Context(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{}); err != nil {
		d.t.Error(err)
	}
}

// bounds has for each bound of the operator how to reach it, or to come close.
var bounds = map[string]func(*drawn){
	"exports_per_user": func(d *drawn) { inParallel(12, 24, func(int) { d.get(d.graph() + "?format=dot") }) },
	"expression_cost": func(d *drawn) {
		all := bombs()
		names := slices.Sorted(maps.Keys(all))
		for range 3 {
			name := names[d.random.IntN(len(names))]
			_ = tryApply(d.t.Context(), view(d.namespace, "bomb", fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "resource == 'configmaps'", object: {objectSelectorExpression: %s}}}]}`, quoted(all[name]))))
		}
	},
	"held_bytes": func(d *drawn) {
		fillAtRandom(d.t, d.namespace, 20+d.random.IntN(40), 700_000)
	},
	"helm_release_bytes": func(d *drawn) {
		names := slices.Sorted(maps.Keys(manifests))
		labels := map[string]string{"owner": "helm", "status": "deployed", "name": "x", "version": "1"}
		for i := range 4 {
			packed := release(d.t, d.namespace, manifests[names[d.random.IntN(len(names))]])
			makeConfigMap(d.t, d.namespace, fmt.Sprintf("sh.helm.release.v1.d%d.v1", i), labels, map[string]string{"release": packed})
		}
	},
	"narrowed_graph_visits": func(d *drawn) {
		claimEachOther(d.t, d.namespace, 250, 220)
		inParallel(4, 8, func(i int) {
			d.get(fmt.Sprintf("%s?direction=Both&root=configmaps/%s/h%d", d.graph(), d.namespace, i))
		})
	},
	"object_parts": func(d *drawn) {
		secrets := make([]any, 10_500)
		for i := range secrets {
			secrets[i] = map[string]any{"name": fmt.Sprint("s", i)}
		}
		for i := range 3 {
			d.create("", "serviceaccounts", map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": fmt.Sprint("parts", i)}, "secrets": secrets})
		}
	},
	"open_graphs": func(d *drawn) {
		var open held
		defer open.close()
		inParallel(8, 1200, func(int) {
			if conn, _, err := dial(d.t.Context(), d.user, watchPath(d.namespace, "all"), "graphview.v1", nil); err == nil {
				open.keep(conn)
			}
		})
	},
	"reviews": func(d *drawn) {
		strange := fixture.HTTP1(d.t, credentials(""))
		inParallel(64, 2000, func(i int) {
			ask, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.graph(), http.NoBody)
			if err != nil {
				d.t.Error(err)
				return
			}
			ask.Header.Set("Authorization", fmt.Sprintf("Bearer guess-%d-%s", i, d.namespace))
			if answer, err := strange.Do(ask); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			}
		})
	},
	"schema_document_bytes": func(d *drawn) { d.defineKinds(4) },
	"schema_kind":           func(d *drawn) { d.defineKinds(1) },
	"selector_requirements_object": func(d *drawn) {
		var peers []any
		for i := range 300 {
			peers = append(peers, map[string]any{"podSelector": map[string]any{"matchExpressions": []any{map[string]any{"key": fmt.Sprint("k", i), "operator": "DoesNotExist"}}}})
		}
		d.create("networking.k8s.io", "networkpolicies", map[string]any{
			"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": map[string]any{"name": "peers"},
			"spec": map[string]any{"podSelector": map[string]any{}, "ingress": []any{map[string]any{"from": peers}}},
		})
	},
	"unknown_connections": func(*drawn) {
		var mu sync.Mutex
		var open []net.Conn
		inParallel(8, 700, func(int) {
			if conn, err := net.Dial("tcp", address()); err == nil {
				mu.Lock()
				defer mu.Unlock()
				open = append(open, conn)
			}
		})
		for _, conn := range open {
			_ = conn.Close()
		}
	},
	"unsent_bytes": func(d *drawn) {
		const objects = 40
		fill(d.t, d.namespace, objects, 64<<10)
		open := make([]net.Conn, 120)
		config := fixture.TLS(d.t, credentials("deaf-"+d.namespace))
		inParallel(8, len(open), func(i int) { open[i], _, _ = deafen(config, watchPath(d.namespace, "all"), "") })
		change(d.t, d.namespace, "unsent", objects)
		for _, conn := range open {
			if conn != nil {
				_ = conn.Close()
			}
		}
	},
	"view_warnings": func(d *drawn) {
		_ = tryApply(d.t.Context(), view(d.namespace, "warned", fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "namespaced", object: {objectSelectorExpression: "obj.absent.a == name"}}}], namespaces: {names: [%s]}}`, d.namespace)))
		inParallel(8, 1100, func(i int) { makeConfigMap(d.t, d.namespace, fmt.Sprint("warned", i), nil, nil) })
	},
	"webhook_requests": func(d *drawn) {
		stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
		body := append(review(d.t, "true"), bytes.Repeat([]byte(" "), 2<<20)...)
		inParallel(40, 120, func(int) {
			answer, err := stranger.Post(fmt.Sprintf("https://127.0.0.1:%d/validate-graphview-dev-v1alpha1-graphview", webhook), "application/json", bytes.NewReader(body))
			if err == nil {
				_ = answer.Body.Close()
			}
		})
	},
}

// defineKinds defines kinds with more references than are read of one kind, and deletes them.
func (d *drawn) defineKinds(n int) {
	definitions := ofGroup(d.t, "apiextensions.k8s.io", "", "customresourcedefinitions")
	for i := range n {
		kind := wideKind(int(d.random.Uint32()>>8)*8+i, 2100)
		if _, err := definitions.Create(d.t.Context(), kind, metav1.CreateOptions{}); err != nil {
			d.t.Error(err)
			return
		}
		defer func() {
			if err := definitions.Delete(d.t.Context(), kind.GetName(), metav1.DeleteOptions{}); err != nil {
				d.t.Error(err)
			}
		}()
	}
}

// TestThreeAtOnce draws three bounds at a time of all that the operator has, and takes them to their
// limits at once. A bystander notices nothing, and the operator stays within the shipped memory.
func TestThreeAtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	code, text := get(t, http.DefaultClient, manager.MetricsURL())
	var all []string
	for _, m := range regexp.MustCompile(`graphview_limit_exceeded_total\{limit="(\w+)"\}`).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	if known := slices.Sorted(maps.Keys(bounds)); code != http.StatusOK || !slices.Equal(known, slices.Sorted(slices.Values(all))) {
		t.Fatalf("the operator has the bounds %q, and this test those of %q (%d)", all, known, code)
	}
	for began := time.Now(); time.Since(began) < *three; {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		t.Run(strings.Join(all[:3], ","), func(t *testing.T) {
			some := make([]*drawn, 3)
			for i := range some {
				namespace := newNamespace(t, "three")
				some[i] = &drawn{t: t, namespace: namespace, user: client(t, "user-of-"+namespace), random: rand.New(rand.NewPCG(random.Uint64(), 1))}
				apply(t, view(namespace, "all", fmt.Sprintf(`{queries: [{include: {resourceSelectorExpression: "namespaced && group in ['', 'networking.k8s.io']"}}], namespaces: {names: [%s]}}`, namespace)))
				wantReady(t, namespace, "all")
			}
			meanwhile(t, func(tries *tally) {
				var running sync.WaitGroup
				for i, d := range some {
					running.Go(func() { bounds[all[i]](d) })
					tries.add(all[i])
				}
				running.Wait()
				tries.measure(t)
				for _, d := range some {
					deleteViews(t, d.namespace)
				}
			})
			for _, d := range some {
				clearConfigMaps(t, d.namespace, "")
				for resource, group := range map[string]string{"serviceaccounts": "", "networkpolicies": "networking.k8s.io"} {
					if err := ofGroup(t, group, d.namespace, resource).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}
