package stream

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
)

// renewed is ann with a credential of a name.
func renewed(credential string) user.Info {
	return &user.DefaultInfo{Name: "ann", Extra: map[string][]string{
		"authentication.kubernetes.io/credential-id": {credential},
	}}
}

// TestRenewedCredential: whose token was renewed asks for itself what it asked
// before, and with the same answers has the same digest.
func TestRenewedCredential(t *testing.T) {
	for name, test := range map[string]struct {
		next     user.Info
		lost     []string // rights that are gone by then
		wantKept bool
	}{
		"another token, the same rights": {next: renewed("2"), wantKept: true},
		"another road, the same rights":  {next: named("ann"), wantKept: true},
		"a right less":                   {next: renewed("2"), lost: []string{"ann watch pods/red"}},
		"somebody else":                  {next: named("bob")},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority("ann list pods/red", "ann watch pods/red", "bob list pods/red", "bob watch pods/red")
			p := a.start(t, nil)
			before := p.acquire(t.Context(), renewed("1"), web, tenancy{})
			resolve(t, before, podsRed, podsBlue)
			digest := before.Rights().Digest()
			before.release()
			asked := a.questions()

			a.set(false, test.lost...)
			after := p.acquire(t.Context(), test.next, web, tenancy{})
			defer after.release()
			if kept := after.Rights().Digest() == digest; kept != test.wantKept {
				t.Errorf("digest kept: %t", kept)
			}
			// The answers are never another's: all of it was asked again.
			if again := a.questions(); test.wantKept && !slices.Equal(again, asked) {
				t.Error(cmp.Diff(asked, again))
			}
			if other := p.acquire(t.Context(), test.next, web, tenancy{}); other != nil {
				other.release()
			}
			if again := a.questions(); len(again) > 0 {
				t.Errorf("asked once more: %v", again)
			}
		})
	}
}

// TestKinIsForgotten: the index holds nobody that the permissions do not.
func TestKinIsForgotten(t *testing.T) {
	p := newAuthority().start(t, nil)
	for n := range maxIdle + 10 {
		p.acquire(t.Context(), renewed(string(rune('a'+n))), web, tenancy{}).release()
	}
	held := 0
	for _, all := range p.kin {
		held += len(all)
	}
	if held != len(p.identities) || held > maxIdle {
		t.Errorf("%d of %d identities", held, len(p.identities))
	}
}
