package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"graphview.dev/api/reason"
	"graphview.dev/graphview"
	"graphview.dev/graphview/delivery"
)

// TestViewBeyondItsBudget is not served when its expressions cost too much on
// all objects together, though no single one does; views beside it do not
// notice, and it is served again with a cheaper spec.
func TestViewBeyondItsBudget(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	namespace := newNamespace(t, c)
	createConfigMaps(t, c, namespace, 30)
	e := runEngine(t, graphview.Options{Budget: 20_000})
	cheap := mustApply(t, e, "cheap", configMaps(namespace))
	beside := follow(t.Context(), cheap)
	becomes(t, beside, configMaps(namespace))

	costly := configMaps(namespace)
	costly.Queries[0].Include.Object.ObjectSelectorExpression = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(y, x * y > 0))"
	view := mustApply(t, e, "view", costly)
	f := follow(t.Context(), view)
	<-f.done
	var closed *delivery.ClosedError
	if !errors.As(f.Err(), &closed) || closed.Reason != reason.LimitExceeded || !strings.Contains(closed.Message, "cost more than 20000 units") {
		t.Errorf("the stream ended with %v", f.Err())
	}
	eventually(t, 10*time.Second, func() string {
		if s := view.Status(); s.LimitExceeded == "" || e.Watches() != 1 {
			return fmt.Sprintf("status %+v, %d watches", s, e.Watches())
		}
		return ""
	})

	becomes(t, beside, configMaps(namespace))
	mended := configMaps(namespace)
	mended.Queries[0].Include.Object.ObjectSelectorExpression = "name != ''"
	mustApply(t, e, "view", mended)
	becomes(t, follow(t.Context(), view), mended)
}
