package intake

import (
	"errors"
	"testing"

	"graphview.dev/graphview/delivery"
)

func TestExceeded(t *testing.T) {
	partial, ok := errors.AsType[*delivery.PartialError](exceeded(errors.New("more than 5 objects")))
	if !ok || !partial.OfBound {
		t.Errorf("%v is not about a bound", partial)
	}
	if exceeded(nil) != nil {
		t.Error("no bound is an error")
	}
}
