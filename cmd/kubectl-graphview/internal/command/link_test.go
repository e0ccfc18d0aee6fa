package command

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestLinkRemedy checks that an error says whether the hub or the cluster refused, and what to do there.
func TestLinkRemedy(t *testing.T) {
	resource := func(name string) schema.GroupResource {
		return schema.GroupResource{Group: "stream.graphview.dev", Resource: name}
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no hub":              {apierrors.NewGenericServerResponse(http.StatusNotFound, "get", resource("graphs"), "", "", 0, true), "serves no graphs, and so is no hub"},
		"refused by the hub":  {apierrors.NewForbidden(resource("clusters"), "eu-1", errors.New("no")), "At the hub it takes get on clusters/proxy of eu-1"},
		"refused by a member": {apierrors.NewForbidden(resource("graphs"), "web", errors.New("no")), "the cluster eu-1 refuses: "},
		"its remedy":          {apierrors.NewForbidden(resource("graphs"), "web", errors.New("no")), "kubectl -n shop create rolebinding NAME --clusterrole=view --user=hub:NAME:YOU"},
		"no such cluster":     {apierrors.NewNotFound(resource("clusters"), "eu-1"), "See kubectl get clusterlinks"},
		"not connected":       {apierrors.NewServiceUnavailable("not connected"), "See kubectl describe clusterlink eu-1"},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewOf(t, nil)
			v.link, v.name = "eu-1", ""
			if err := v.remedy(t.Context(), test.err); !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q in it", err, test.want)
			}
		})
	}
}
