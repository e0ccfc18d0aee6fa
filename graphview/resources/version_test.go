package resources

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		versions   []string
		wantSorted []string // from the least to the most wanted
	}{
		"NumbersAreNumbers": {
			versions:   []string{"v10", "v2", "v1"},
			wantSorted: []string{"v1", "v2", "v10"},
		},
		"StableBeforeUnstable": {
			versions:   []string{"v1", "v2beta1", "v3alpha1"},
			wantSorted: []string{"v2beta1", "v3alpha1", "v1"},
		},
		"Levels": {
			versions:   []string{"v2alpha1", "v1beta10", "v1beta2", "v1alpha1", "v1beta1"},
			wantSorted: []string{"v1alpha1", "v1beta1", "v1beta2", "v1beta10", "v2alpha1"},
		},
		"NamesOfOtherKinds": {
			versions:   []string{"v", "foo10", "v1", "foo2", "2024-10-01", "2024-9-30", "v1x"},
			wantSorted: []string{"2024-9-30", "2024-10-01", "foo2", "foo10", "v", "v1x", "v1"},
		},
		"LongerThanAnyInteger": {
			versions:   []string{"v100000000000000000000000", "v99999999999999999999999"},
			wantSorted: []string{"v99999999999999999999999", "v100000000000000000000000"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := slices.SortedFunc(slices.Values(tt.versions), CompareVersions)
			if diff := cmp.Diff(tt.wantSorted, got); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzCompareVersions proves that the order is total and strict, which sorting
// and binary search rely on.
func FuzzCompareVersions(f *testing.F) {
	f.Add("v1", "v01", "v1beta1")
	f.Add("", "v", "10")
	f.Add("a1b", "a01b", "a1c")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, compare := range []func(a, b string) int{compareNatural, CompareVersions} {
			if compare(a, b) != -compare(b, a) {
				t.Errorf("%q and %q: not antisymmetric", a, b)
			}
			if (compare(a, b) == 0) != (a == b) {
				t.Errorf("%q and %q: equal and not the same, or the reverse", a, b)
			}
			if compare(a, b) < 0 && compare(b, c) < 0 && compare(a, c) >= 0 {
				t.Errorf("%q, %q, %q: not transitive", a, b, c)
			}
		}
	})
}
