package offline

import (
	"encoding/json"
	"net/http"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/graphview/schemas"
)

// discovery answers with the aggregated discovery of the core group, or of all others.
func (s *Server) discovery(w http.ResponseWriter, core bool) {
	s.mu.Lock()
	kinds := s.kinds
	s.mu.Unlock()
	found := apidiscoveryv2.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"}}
	groups, versions := map[string]int{}, map[string]int{}
	for _, kind := range kinds {
		if (kind.Group == "") != core {
			continue
		}
		if _, known := groups[kind.Group]; !known {
			groups[kind.Group] = len(found.Items)
			found.Items = append(found.Items, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: kind.Group}})
		}
		group := &found.Items[groups[kind.Group]]
		at := kind.GroupVersion().String()
		if _, known := versions[at]; !known {
			versions[at] = len(group.Versions)
			group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{Version: kind.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent})
		}
		version := &group.Versions[versions[at]]
		scope := apidiscoveryv2.ScopeCluster
		if kind.Namespaced {
			scope = apidiscoveryv2.ScopeNamespace
		}
		version.Resources = append(version.Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource: kind.Resource, ResponseKind: new(metav1.GroupVersionKind(kind.GroupVersionKind)), Scope: scope,
			SingularResource: strings.ToLower(kind.Kind), Verbs: []string{"get", "list", "watch"}, ShortNames: kind.Short,
		})
	}
	w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	_ = json.NewEncoder(w).Encode(found) // the client has gone
}

// openAPI answers with the index of documents, or with the schemas of the CustomResourceDefinitions of a
// group and version.
func (s *Server) openAPI(w http.ResponseWriter, path string) {
	s.mu.Lock()
	kinds, version := s.kinds, s.version
	s.mu.Unlock()
	paths, described := map[string]any{}, map[string]any{}
	for _, kind := range kinds {
		if kind.Schema == nil {
			continue
		}
		at := schemas.Path(kind.Group, kind.Version)
		// Its address changes with the manifests, so that clients read it again.
		paths[at] = map[string]any{"serverRelativeURL": "/openapi/v3/" + at + "?hash=" + versionText(version)}
		if at == path {
			schema := copied(kind.Schema)
			schema["x-kubernetes-group-version-kind"] = []any{map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}}
			described[kind.Kind] = schema
		}
	}
	if path == "" {
		answer(w, map[string]any{"paths": paths})
		return
	}
	answer(w, map[string]any{"openapi": "3.0.0", "components": map[string]any{"schemas": described}})
}
