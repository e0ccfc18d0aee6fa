package quota

import (
	"testing"
	"testing/synctest"
	"time"

	"graphview.dev/graphview/budget"
)

// TestExceededBudget: an exceeded budget stays exceeded, and a renewed one begins without excess.
func TestExceededBudget(t *testing.T) {
	const refill = 100 * time.Second
	synctest.Test(t, func(t *testing.T) {
		first := NewBudget(budget.NewBuckets(1000, refill).Bucket(budget.NamespaceOwner("shop")))
		if !first.Charge(900) || first.Exceeded() {
			t.Fatal("exceeded before it was used up")
		}
		if first.Charge(101) || !first.Exceeded() {
			t.Fatal("there was more than the owner has")
		}
		time.Sleep(2 * refill)
		if !first.Exceeded() {
			t.Fatal("an exceeded budget was reset by time alone")
		}
		second := first.Renewed()
		if first.Charge(1001); second.Exceeded() {
			t.Fatal("an evaluation from before exceeded the renewed budget")
		}
		if !second.Charge(1000) {
			t.Fatal("the owner's budget is not full again")
		}
	})
}
