package resources

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// describe makes a catalog comparable: resources, then failures with their error.
func describe(c *Catalog) []string {
	var out []string
	for _, r := range c.All() {
		out = append(out, r.String())
	}
	for _, f := range c.Failed() {
		out = append(out, "failed "+f.Group+"/"+f.Version+": "+f.Err.Error())
	}
	return out
}

func TestListingSucceed(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	v1 := func(group string) schema.GroupVersion { return schema.GroupVersion{Group: group, Version: "v1"} }
	previous := NewCatalog(concat(versioned("a", "x", "v1"), versioned("a", "y", "v1"), versioned("b", "z", "v1")), nil)
	tests := map[string]struct {
		previous *Catalog
		listing  listing
		want     []string
	}{
		"First": {
			listing: listing{
				served: map[schema.GroupVersion][]Resource{v1("a"): versioned("a", "x", "v1")},
				failed: map[schema.GroupVersion]error{v1("b"): down},
			},
			want: []string{"a/v1/x", "failed b/v1: down"},
		},
		"FailedKeepsWhatItHad": {
			previous: previous,
			listing: listing{
				served: map[schema.GroupVersion][]Resource{v1("b"): versioned("b", "z", "v1")},
				failed: map[schema.GroupVersion]error{v1("a"): down},
			},
			want: []string{"a/v1/x", "a/v1/y", "b/v1/z", "failed a/v1: down"},
		},
		"NoLongerNamedIsGone": {
			previous: previous,
			listing:  listing{served: map[schema.GroupVersion][]Resource{v1("a"): versioned("a", "x", "v1")}},
			want:     []string{"a/v1/x"},
		},
		"FailedCountsBeforeServed": {
			previous: previous,
			listing: listing{
				served: map[schema.GroupVersion][]Resource{v1("a"): nil},
				failed: map[schema.GroupVersion]error{v1("a"): down},
			},
			want: []string{"a/v1/x", "a/v1/y", "failed a/v1: down"},
		},
		"OwnGroupMayFail": {
			listing: listing{failed: map[schema.GroupVersion]error{{Group: servedGroup, Version: "v1alpha1"}: down}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := describe(tt.listing.catalogAfter(tt.previous))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("catalog (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCatalogEqual(t *testing.T) {
	t.Parallel()
	base := func() *Catalog {
		return NewCatalog(versioned("a", "x", "v1", "v2"), []Failure{{Group: "b", Version: "v1", Err: errors.New("down")}})
	}
	namespaced := Resource{Group: "a", Version: "v1", Resource: "x", Kind: "K", Namespaced: true}
	tests := map[string]struct {
		other *Catalog
		want  bool
	}{
		"Same":         {other: base(), want: true},
		"Nil":          {other: nil},
		"Less":         {other: NewCatalog(versioned("a", "x", "v1"), base().Failed())},
		"OtherScope":   {other: NewCatalog(append(versioned("a", "x", "v2"), namespaced), base().Failed())},
		"OtherFailure": {other: NewCatalog(base().All(), []Failure{{Group: "b", Version: "v1", Err: errors.New("forbidden")}})},
		"NoFailure":    {other: NewCatalog(base().All(), nil)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := base().equal(tt.other); got != tt.want {
				t.Errorf("equal = %t, want %t", got, tt.want)
			}
		})
	}
}
