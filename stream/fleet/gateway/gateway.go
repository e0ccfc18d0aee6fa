package gateway

import (
	"encoding/json"
	"net/http"
	pathpkg "path"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
)

// Authenticator authenticates requests of a hub of this name.
func Authenticator(hub string) authenticator.Request {
	prefix := "hub:" + hub + ":"
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		who, err := userOf(r.Header, prefix)
		if err != nil {
			return nil, false, err
		}
		return &authenticator.Response{User: who}, true, nil
	})
}

// paths are the allowed paths. Everything below the last path is allowed too.
var paths = []string{"/apis", "/apis/stream.graphview.dev", "/version", "/openapi/v3", "/openapi/v3/apis/stream.graphview.dev/v1alpha1", "/apis/stream.graphview.dev/v1alpha1"}

// Only passes GET requests for paths of the stream API to a handler. Clusters of a member that
// is a hub itself are not among them.
func Only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimSuffix(r.URL.Path, "/")
		api := paths[len(paths)-1]
		clean := r.URL.RawPath == "" && path == pathpkg.Clean(path)
		passes := clean && (strings.HasPrefix(path, api+"/") && !strings.HasPrefix(path+"/", api+"/clusters/"))
		for _, exact := range paths {
			passes = passes || path == exact
		}
		switch {
		case !passes:
			refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource (get graphs.stream.graphview.dev)")
		case r.Method != http.MethodGet:
			refuse(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "a hub may get, list and watch graphs")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// refuse answers with a Status.
func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// An error means that the hub has hung up.
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message, //nolint:gosec // a code of HTTP
	})
}
