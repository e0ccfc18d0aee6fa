package controllers

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestUntilAnswered(t *testing.T) {
	refused := errors.New("dial tcp: connection refused")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "keys", nil)
	for name, tt := range map[string]struct {
		answers []error
		want    error
	}{
		"at once":                      {[]error{nil}, nil},
		"after the API server is back": {[]error{refused, refused, context.DeadlineExceeded, nil}, nil},
		"an overloaded API server":     {[]error{apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "get", schema.GroupResource{}, "", "", 0, false), nil}, nil},
		"without the right":            {[]error{refused, forbidden}, forbidden},
		"without the definitions":      {[]error{&meta.NoKindMatchError{}}, &meta.NoKindMatchError{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				err := untilAnswered(t.Context(), func(context.Context) error { asked++; return tt.answers[asked-1] })
				if asked != len(tt.answers) || (err == nil) != (tt.want == nil) || err != nil && err.Error() != tt.want.Error() {
					t.Errorf("%v after %d reads, want %v after %d", err, asked, tt.want, len(tt.answers))
				}
			})
		})
	}
}
