package controllers

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"

	"graphview.dev/graphview"
	"graphview.dev/graphview/access"
)

func TestPermitAsksAsServiceAccount(t *testing.T) {
	allowed := map[access.Question]bool{
		{Verb: "list", Version: "*", Resource: "pods"}:                        true,
		{Verb: "list", Group: "apps", Version: "*", Resource: "deployments"}:  true,
		{Verb: "watch", Group: "apps", Version: "*", Resource: "deployments"}: true,
	}
	var subjects []user.Info
	p := newPermit(func(_ context.Context, who user.Info, q access.Question) (bool, error) {
		subjects = append(subjects, who)
		return allowed[q], nil
	})
	asked := func(place access.Place) bool {
		t.Helper()
		got, err := p.Allowed(t.Context(), graphview.Name{Namespace: "shop", Name: "viewer"}, []access.Place{place})
		if err != nil {
			t.Fatal(err)
		}
		return got[place]
	}
	got := []bool{asked(access.Place{Resource: "pods"}), asked(access.Place{Group: "apps", Resource: "deployments"}), asked(access.Place{Resource: "secrets"})}
	if diff := cmp.Diff([]bool{false, true, false}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	// A resource that may not be listed is not asked about twice.
	if n := len(subjects); n != 5 {
		t.Errorf("%d reviews, want 5", n)
	}
	for _, who := range subjects {
		if who.GetName() != "system:serviceaccount:shop:viewer" {
			t.Errorf("asked about %s", who.GetName())
		}
		if diff := cmp.Diff([]string{"system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"}, who.GetGroups()); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
	}
}
