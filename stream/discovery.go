package stream

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// openAPI describes the paths below the version.
//
//go:embed openapi.json
var openAPI []byte

// discoveryDocuments returns the documents of discovery, by path. The resource has the verbs get and
// list only: informers would watch a resource with the verb watch as objectSubresource.
func discoveryDocuments(operator string) map[string][]byte {
	served := metav1.GroupVersionForDiscovery{GroupVersion: groupVersion.String(), Version: groupVersion.Version}
	group := metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"},
		Name:     groupVersion.Group, Versions: []metav1.GroupVersionForDiscovery{served}, PreferredVersion: served,
	}
	openAPIPath := "/openapi/v3" + versionPath
	documents := map[string]any{
		"/apis": metav1.APIGroupList{
			TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{group},
		},
		groupPath: group,
		versionPath: metav1.APIResourceList{
			TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
			GroupVersion: groupVersion.String(),
			APIResources: []metav1.APIResource{{
				Name: resource, SingularName: "graph", Namespaced: true, Kind: kind, Verbs: metav1.Verbs{"get", "list"},
			}, {
				Name: resource + "/" + objectSubresource, Namespaced: true, Kind: objectKind, Verbs: metav1.Verbs{"get"},
			}},
		},
		"/openapi/v3": map[string]any{"paths": map[string]any{
			// The hash changes with the content, so that the API server can cache the
			// document.
			versionPath[1:]: map[string]any{
				"serverRelativeURL": fmt.Sprintf("%s?hash=%X", openAPIPath, sha256.Sum256(openAPI)),
			},
		}},
		openAPIPath: json.RawMessage(openAPI),
		"/version":  versionInfo(operator),
	}
	texts := make(map[string][]byte, len(documents))
	for path, document := range documents {
		texts[path] = encode(document)
	}
	return texts
}

func versionInfo(v string) version.Info {
	info := version.Info{
		GitVersion: v, GoVersion: runtime.Version(), Compiler: runtime.Compiler,
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if parsed, err := utilversion.ParseGeneric(v); err == nil {
		info.Major, info.Minor = strconv.Itoa(int(parsed.Major())), strconv.Itoa(int(parsed.Minor()))
	}
	return info
}

// discovery returns the handler of a document, nil for other requests. Documents are the same for
// all users and need no answer of the API server: while discovery fails, no namespace of the cluster
// can be deleted.
func (s *Server) discovery(info *request.RequestInfo) handlerFunc {
	text, ok := s.documents[strings.TrimRight(info.Path, "/")]
	if !ok || info.IsResourceRequest {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request) error { return s.serveDocument(w, r, text) }
}

// versionHeader has the version of the operator in the answers of discovery. An API server that sends
// requests on answers /version itself.
const versionHeader = "Graphview-Version"

func (s *Server) serveDocument(w http.ResponseWriter, r *http.Request, text []byte) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return methodNotAllowed(r)
	}
	w.Header().Set(versionHeader, s.options.Version)
	return s.answer(w, r, askedAgain, text)
}
