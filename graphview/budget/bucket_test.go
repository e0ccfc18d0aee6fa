package budget

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestBucket(t *testing.T) {
	shop, bank := NamespaceOwner("shop"), NamespaceOwner("bank")
	synctest.Test(t, func(t *testing.T) {
		all := NewBuckets(1000, 100*time.Second)
		first, second, other := all.Bucket(shop), all.Bucket(shop), all.Bucket(bank)
		for _, step := range []struct {
			name string
			does func() bool
			want bool
		}{
			{"more than there is", func() bool { return first.Take(1001) }, false},
			{"what there is", func() bool { return first.Take(900) }, true},
			{"more than the owner's other bucket left", func() bool { return second.Take(101) }, false},
			{"another owner's", func() bool { return other.Take(1000) }, true},
			{"what the other bucket left", func() bool { return second.Take(100) }, true},
			{"what ten seconds bring", func() bool { time.Sleep(10 * time.Second); return first.Take(100) }, true},
			{"more than ten seconds bring", func() bool { return first.Take(1) }, false},
		} {
			if got := step.does(); got != step.want {
				t.Errorf("%s: taken %t, want %t", step.name, got, step.want)
			}
		}
		if wait := first.Borrow(50); wait != 5*time.Second {
			t.Errorf("50 tokens are there after %v, want 5 s", wait)
		}
		if wait := first.Borrow(1_000_000); wait != 105*time.Second {
			t.Errorf("more than a bucket has is there after %v, want 105 s", wait)
		}
		if left := second.Left(); left != -1050 {
			t.Errorf("%d are left", left)
		}
	})
}

// TestFullBucketsAreForgotten: buckets that are not full are kept, and an owner's
// buckets stay one.
func TestFullBucketsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := NewBuckets(1000, 100*time.Second)
		full, spent := all.Bucket(NamespaceOwner("full")), all.Bucket(NamespaceOwner("spent"))
		full.Take(1)
		spent.Take(1000)
		time.Sleep(99 * time.Second)
		spent.Take(500)
		time.Sleep(time.Second)
		all.Bucket(NamespaceOwner("new")).Take(1)
		if n := len(all.owners); n != 2 {
			t.Errorf("%d owners are remembered, want those that are not full", n)
		}
		if all.Bucket(NamespaceOwner("spent")).Take(501) {
			t.Error("a bucket that was not full was forgotten")
		}
		full.Take(600)
		if all.Bucket(NamespaceOwner("full")).Take(401) {
			t.Error("an owner has a bucket beside the one that was forgotten")
		}
	})
}
