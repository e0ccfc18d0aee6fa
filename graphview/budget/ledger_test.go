package budget

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
)

func TestLedgerShares(t *testing.T) {
	l := NewLedger(1000)
	fill := func(owner Owner) (n int64) {
		a := l.Account(owner)
		for a.Set(Elements, n+1) == nil {
			n++
		}
		return n
	}
	// Each owner may hold as much as is free after that.
	for i, want := range []int64{500, 250, 125, 62, 31} {
		if n := fill(NamespaceOwner(string(rune('a' + i)))); n != want {
			t.Errorf("owner %d holds %d bytes, want %d", i, n, want)
		}
	}
	if n := fill(NamespaceOwner("a")); n != 0 {
		t.Errorf("another account of the first owner holds %d bytes more", n)
	}
}

func TestLedgerRefuses(t *testing.T) {
	l := NewLedger(64 << 20)
	a := l.Account(NamespaceOwner("shop"))
	if err := a.Set(Programs, 30<<20); err != nil {
		t.Fatal(err)
	}
	err := a.Set(Elements, 5<<20)
	overdrawn, ok := errors.AsType[*Overdrawn](err)
	if want := (&Overdrawn{NamespaceOwner("shop"), 30 << 20, 34 << 20}); !ok || *overdrawn != *want {
		t.Fatalf("got %v, want %v", err, want)
	}
	if n := a.Held(); n != 30<<20 {
		t.Errorf("it holds %d bytes after a refusal", n)
	}
	if err := a.Set(Programs, 29<<20); err != nil {
		t.Errorf("less memory: %v", err)
	}
	a.Close()
	if len(l.held) != 0 {
		t.Errorf("after Close there are %v", l.held)
	}
}

// TestLedgerAddsUp compares with a map of accounts.
func TestLedgerAddsUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	l := NewLedger(10_000)
	owners := []Owner{NamespaceOwner("a"), NamespaceOwner("b"), UserOwner(&user.DefaultInfo{Name: "c"})}
	var accounts []*Account
	for range 12 {
		accounts = append(accounts, l.Account(owners[random.IntN(len(owners))]))
	}
	want := make(map[*Account]*[uses]int64)
	for _, a := range accounts {
		want[a] = &[uses]int64{}
	}
	sum := func(owner Owner) (n int64) {
		for a, held := range want {
			for _, of := range held {
				if owner == (Owner{}) || a.owner == owner {
					n += of
				}
			}
		}
		return n
	}
	refused := 0
	for range 10_000 {
		a, use, n := accounts[random.IntN(len(accounts))], Use(random.IntN(int(uses))), random.Int64N(1500)
		if random.IntN(50) == 0 {
			a.Close()
			want[a] = &[uses]int64{}
			continue
		}
		before := want[a][use]
		want[a][use] = n
		fits := n <= before || sum(a.owner) <= 10_000-sum(Owner{})
		if err := a.Set(use, n); (err == nil) != fits {
			t.Fatalf("%d for %d bytes: %v", n, before, err)
		}
		if !fits {
			refused++
			want[a][use] = before
		}
	}
	expected := make(map[Owner]int64)
	for _, owner := range owners {
		if n := sum(owner); n > 0 {
			expected[owner] = n
		}
	}
	if diff := cmp.Diff(expected, l.held, cmp.AllowUnexported(Owner{})); diff != "" || refused == 0 {
		t.Errorf("after %d refusals (-want +got):\n%s", refused, diff)
	}
}

// TestRelieve: while memory is short, the owner that holds most gives back, its largest account first.
// The owner that asked last and an owner that holds little give nothing back.
func TestRelieve(t *testing.T) {
	l := NewLedger(1000)
	var gave []string
	holds := func(owner, name string, n int64) {
		a := l.Account(NamespaceOwner(owner))
		a.OnRelieve(func(why *Overdrawn) bool {
			gave = append(gave, fmt.Sprintf("%s of %s, which held %d", name, why.Owner, why.Held))
			a.Close()
			return true
		})
		if err := a.Set(Elements, n); err != nil {
			t.Fatal(err)
		}
	}
	holds("crowd", "small", 130)
	holds("crowd", "large", 140)
	holds("bank", "largest", 150)
	if err := l.Account(NamespaceOwner("crowd")).Set(Rights, 5); err != nil { // cannot be refused
		t.Fatal(err)
	}
	holds("shop", "last", 10)
	for range 3 {
		if _, ok := l.Relieve(); !ok {
			t.Fatal("nobody gives back")
		}
	}
	if owner, ok := l.Relieve(); ok {
		t.Errorf("%s, which holds little, gives it back", owner)
	}
	want := []string{
		"large of namespace crowd, which held 275", "largest of namespace bank, which held 150",
		"small of namespace crowd, which held 135",
	}
	if diff := cmp.Diff(want, gave); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
