package watch

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestReasonFor(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	tests := map[string]struct {
		err         error
		want        Reason
		wantRevoked bool
	}{
		"403":     {apierrors.NewForbidden(pods, "", nil), Forbidden, true},
		"404":     {apierrors.NewNotFound(pods, ""), NotServed, true},
		"405":     {apierrors.NewMethodNotSupported(pods, "list"), NotServed, true},
		"400":     {apierrors.NewBadRequest("field label not supported"), Rejected, false},
		"401":     {apierrors.NewUnauthorized("expired"), Failing, false},
		"500":     {apierrors.NewInternalError(errors.New("x")), Failing, false},
		"network": {errors.New("connection refused"), Failing, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			began := time.Unix(100, 0)
			s := State{Synced: true, Reason: UpToDate}.failed(fmt.Errorf("list: %w", test.err), began)
			s = s.failed(fmt.Errorf("watch: %w", test.err), began.Add(time.Hour))
			if s.Reason != test.want || s.Synced == test.wantRevoked || !s.Since.Equal(began) {
				t.Errorf("state = %+v", s)
			}
			if s = s.confirmed(); s.Err != nil || !s.Since.IsZero() || s.Reason != UpToDate {
				t.Errorf("confirmed state = %+v", s)
			}
		})
	}
}
