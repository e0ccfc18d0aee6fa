//go:build !race

package graph

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"graphview.dev/graphview/budget"
	"graphview.dev/test/bench/heap"
)

// account is a Payer that notes what each namespace holds.
type account map[string]int

func (a account) Pay(namespace string, _ budget.Use, bytes int) bool {
	a[namespace] = bytes
	return true
}

func (account) Most(string, budget.Use) int { return math.MaxInt }

// TestReferenceBytes: references by name take no more memory than is charged, and at least seven
// tenths of it.
func TestReferenceBytes(t *testing.T) {
	const objects, each = 50, 4000
	for _, length := range []int{40, 250} {
		for _, borne := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d characters, borne: %t", length, borne), func(t *testing.T) {
				paid := account{}
				g := New(paid)
				var source, targets SourceID
				name := func(i, j int) string { return fmt.Sprintf("%04d-%04d-%s", i, j, strings.Repeat("x", length-10)) }
				g.Update(func() {
					source = g.AddSource(Kind{Kind: "ServiceAccount"}, Resource{Version: "v1", Resource: "serviceaccounts"}, ScopeNamespaced)
					targets = g.AddSource(Kind{Kind: "Secret"}, Resource{Version: "v1", Resource: "secrets"}, ScopeNamespaced)
				})
				if borne {
					for i := range objects {
						g.Update(func() {
							for j := range each {
								g.Set(targets, &Object{Namespace: "shop", Name: name(i, j), UID: fmt.Sprint(i, j), Version: 1, Hash: 1})
							}
						})
					}
				}
				before := heap.Held()
				for i := range objects {
					o := &Object{Namespace: "shop", Name: fmt.Sprint(i), UID: fmt.Sprint(i), Version: 1, Hash: 1}
					for j := range each {
						o.References = append(o.References, Reference{Type: Direct, To: Kind{Kind: "Secret"}, Namespace: "shop", Name: name(i, j), Field: "secrets[]"})
					}
					g.Update(func() { g.Set(source, o) })
				}
				took, said := int(heap.Held()-before), paid["shop"]
				runtime.KeepAlive(g)
				t.Logf("said %d bytes for each reference, takes %d: %.2f", said/objects/each, took/objects/each, float64(took)/float64(said))
				if took > said || 10*took < 7*said {
					t.Errorf("says %d bytes, takes %d", said, took)
				}
			})
		}
	}
}

// TestNamesAreRefunded: a namespace holds nothing for a name that an object has, and nothing after its
// references are gone.
func TestNamesAreRefunded(t *testing.T) {
	paid := account{}
	g := New(paid)
	secret := Kind{Kind: "Secret"}
	var accounts, secrets SourceID
	name := func(namespace string) *Object {
		return &Object{Namespace: namespace, Name: "a", UID: namespace, Version: 1, Hash: 1, References: []Reference{{Type: Direct, To: secret, Scope: ScopeNamespaced, Namespace: "shop", Name: "key"}}}
	}
	check := func(when string, change func(), shop, other int) {
		t.Helper()
		g.Update(change)
		g.drain()
		if paid["shop"] != shop || paid["other"] != other {
			t.Errorf("%s: %v, want %d and %d", when, paid, shop, other)
		}
	}
	const absent = placeholderBytes + 16 // for its text
	check("two namespaces name it", func() {
		accounts = g.AddSource(Kind{Kind: "ServiceAccount"}, Resource{Version: "v1", Resource: "serviceaccounts"}, ScopeNamespaced)
		secrets = g.AddSource(secret, Resource{Version: "v1", Resource: "secrets"}, ScopeNamespaced)
		g.Set(accounts, name("shop"))
		g.Set(accounts, name("other"))
	}, arcBytes+absent, arcBytes)
	check("it exists", func() { g.Set(secrets, &Object{Namespace: "shop", Name: "key", UID: "k", Version: 1, Hash: 1}) }, arcBytes, arcBytes)
	check("it is deleted", func() { g.Remove(secrets, "shop", "key") }, arcBytes, arcBytes+absent)
	check("one names it no more", func() { g.Remove(accounts, "shop", "a") }, 0, arcBytes+absent)
	check("nor the other", func() { g.Remove(accounts, "other", "a") }, 0, 0)
	if len(g.named) > 0 || len(paid) != 2 {
		t.Errorf("%v is left of %v", g.named, paid)
	}
}
