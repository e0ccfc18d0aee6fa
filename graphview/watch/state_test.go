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
		"404":     {apierrors.NewNotFound(pods, ""), NotServed, false},
		"405":     {apierrors.NewMethodNotSupported(pods, "list"), NotServed, false},
		"400":     {apierrors.NewBadRequest("field label not supported"), Rejected, false},
		"401":     {apierrors.NewUnauthorized("expired"), Failing, false},
		"500":     {apierrors.NewInternalError(errors.New("x")), Failing, false},
		"network": {errors.New("connection refused"), Failing, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			began := time.Unix(100, 0)
			s := State{Synced: true, Reason: UpToDate}.failed(fmt.Errorf("list: %w", test.err), began.Add(-time.Minute), began)
			s = s.failed(fmt.Errorf("watch: %w", test.err), began.Add(time.Hour), began.Add(time.Hour))
			if s.Reason != test.want || s.Synced == test.wantRevoked || !s.Since.Equal(began) || !s.Heard.Equal(began.Add(-time.Minute)) {
				t.Errorf("state = %+v", s)
			}
			if s = s.confirmed(); s.Err != nil || !s.Since.IsZero() || !s.Heard.IsZero() || s.Reason != UpToDate {
				t.Errorf("confirmed state = %+v", s)
			}
		})
	}
}

// TestConnectionErrorIsReportedOnce: numbers of ports, streams and bytes differ
// from one attempt to the next, and are no news.
func TestConnectionErrorIsReportedOnce(t *testing.T) {
	reset := &connectionError{errors.New("read tcp 127.0.0.1:4711: connection reset by peer")}
	other := &connectionError{errors.New("read tcp 127.0.0.1:4712: connection reset by peer")}
	refused := apierrors.NewInternalError(errors.New("x"))
	tests := map[string]struct {
		errs []error
		want error
	}{
		"the first of several":       {[]error{reset, other}, reset},
		"an answer after it":         {[]error{reset, refused}, refused},
		"no answer after an answer":  {[]error{refused, reset, other}, reset},
		"another answer than before": {[]error{apierrors.NewUnauthorized("expired"), refused}, refused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := State{Synced: true, Reason: UpToDate}
			for _, err := range test.errs {
				s = s.failed(fmt.Errorf("list: %w", err), time.Unix(100, 0), time.Unix(100, 0))
			}
			if !errors.Is(s.Err, test.want) {
				t.Errorf("err = %v, want %v", s.Err, test.want)
			}
		})
	}
}
