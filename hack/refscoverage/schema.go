package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/graph"
	"graphview.dev/test/must"
)

// document has the parts of an OpenAPI v3 document that the program reads.
type document struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 string             `json:"type"`
	AllOf                []*schema          `json:"allOf"`
	Properties           map[string]*schema `json:"properties"`
	Items                *schema            `json:"items"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	Kinds                []groupKind        `json:"x-kubernetes-group-version-kind"`
}

type groupKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// readKinds returns the fields that look like references, of the kinds that the server stores, in all
// served versions.
func readKinds(ctx context.Context, config *rest.Config) map[graph.Kind]map[string]bool {
	clients := must.Get(kubernetes.NewForConfig(config))
	get := func(path string, into any) {
		must.Do(json.Unmarshal(must.Get(clients.RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(ctx)), into))
	}
	var index struct {
		Paths map[string]any `json:"paths"`
	}
	get("/openapi/v3", &index)
	kinds := map[graph.Kind]map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(index.Paths)) {
		if !strings.HasPrefix(path, "api/v") && strings.Count(path, "/") != 2 {
			continue
		}
		var d document
		get("/openapi/v3/"+path, &d)
		listed := d.listed()
		for _, s := range d.Components.Schemas {
			if len(s.Kinds) != 1 || !listed[s.Kinds[0]] {
				continue
			}
			kind := graph.Kind{Group: s.Kinds[0].Group, Kind: s.Kinds[0].Kind}
			if kinds[kind] == nil {
				kinds[kind] = map[string]bool{}
			}
			w := walk{schemas: d.Components.Schemas, found: kinds[kind]}
			w.fields("", s, nil)
		}
	}
	return kinds
}

// listed returns the kinds that have a collection. The server does not store other kinds.
func (d *document) listed() map[groupKind]bool {
	kinds := map[groupKind]bool{}
	for _, methods := range d.Paths {
		data, ok := methods["get"]
		if !ok {
			continue
		}
		var operation struct {
			Action string    `json:"x-kubernetes-action"`
			Kind   groupKind `json:"x-kubernetes-group-version-kind"`
		}
		must.Do(json.Unmarshal(data, &operation))
		if operation.Action == "list" {
			kinds[operation.Kind] = true
		}
	}
	return kinds
}
