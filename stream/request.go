package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"graphview.dev/graphview/delivery"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/spec"
)

// maxRequest bounds the first message of a connection, in bytes.
const maxRequest = 64 << 10

// viewRequest is the first message of a connection: a GraphView's spec in snake_case.
type viewRequest struct {
	Queries []struct {
		Include *struct {
			ResourceSelectorExpression string `json:"resource_selector_expression"`
			Object                     struct {
				LabelSelector            string            `json:"label_selector"`
				FieldSelector            string            `json:"field_selector"`
				ObjectSelectorExpression string            `json:"object_selector_expression"`
				Fields                   map[string]string `json:"fields"`
				JSONPath                 string            `json:"json_path"`
			} `json:"object"`
		} `json:"include"`
		Exclude *struct {
			ResourceSelectorExpression string `json:"resource_selector_expression"`
		} `json:"exclude"`
	} `json:"queries"`
	Namespaces *struct {
		Names                    []string `json:"names"`
		LabelSelector            string   `json:"label_selector"`
		FieldSelector            string   `json:"field_selector"`
		ObjectSelectorExpression string   `json:"object_selector_expression"`
	} `json:"namespaces"`
	Roots *struct {
		Objects                   []rootRequest `json:"objects"`
		ObjectSelectorExpressions []string      `json:"object_selector_expressions"`
		IgnoreArcDirection        []string      `json:"ignore_arc_direction"`
		Follow                    *struct {
			Direction string   `json:"direction"`
			Depth     int      `json:"depth"`
			Types     []string `json:"types"`
		} `json:"follow"`
	} `json:"roots"`
	InferredReferences string `json:"inferred_references"`
}

// rootRequest is a spec.RootObject.
type rootRequest struct {
	Group             *string `json:"group"`
	Kind              string  `json:"kind"`
	Namespace         string  `json:"namespace"`
	Name              string  `json:"name"`
	LabelSelector     string  `json:"label_selector"`
	HelmRelease       string  `json:"helm_release"`
	ArgoApplication   string  `json:"argo_application"`
	FluxKustomization string  `json:"flux_kustomization"`
	FluxHelmRelease   string  `json:"flux_helm_release"`
}

// parseRequest reads a request. An error names the malformed part; whether the
// expressions compile is not looked at.
func parseRequest(text []byte) (spec.Spec, error) {
	var request viewRequest
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		return spec.Spec{}, fmt.Errorf("the request is not of the expected form: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return spec.Spec{}, errors.New("the request must be one JSON object, something follows it")
	}
	return request.spec()
}

func (r *viewRequest) spec() (spec.Spec, error) {
	var out spec.Spec
	switch r.InferredReferences { // the values of spec.inferredReferences
	case "", "Include":
	case "Exclude":
		out.ExcludeInferred = true
	default:
		return spec.Spec{}, fmt.Errorf("inferred_references: must be Include or Exclude, is %q", delivery.Bounded(r.InferredReferences))
	}
	for _, q := range r.Queries {
		var query spec.Query
		if in := q.Include; in != nil {
			query.Include = &spec.Include{
				ResourceSelectorExpression: in.ResourceSelectorExpression,
				Object: spec.ObjectFilter{
					LabelSelector: in.Object.LabelSelector, FieldSelector: in.Object.FieldSelector,
					ObjectSelectorExpression: in.Object.ObjectSelectorExpression, Fields: in.Object.Fields, JSONPath: in.Object.JSONPath,
				},
			}
		}
		if q.Exclude != nil {
			query.Exclude = &spec.Exclude{ResourceSelectorExpression: q.Exclude.ResourceSelectorExpression}
		}
		out.Queries = append(out.Queries, query)
	}
	if n := r.Namespaces; n != nil {
		out.Namespaces = &spec.Namespaces{
			Names: n.Names, LabelSelector: n.LabelSelector, FieldSelector: n.FieldSelector,
			ObjectSelectorExpression: n.ObjectSelectorExpression,
		}
	}
	if r.Roots == nil {
		return out, nil
	}
	out.Roots = &spec.Roots{ObjectSelectorExpressions: r.Roots.ObjectSelectorExpressions}
	for _, o := range r.Roots.Objects {
		out.Roots.Objects = append(out.Roots.Objects, spec.RootObject(o))
	}
	var err error
	if out.Roots.IgnoreArcDirection, err = parseArcTypes("roots.ignore_arc_direction", r.Roots.IgnoreArcDirection); err != nil {
		return spec.Spec{}, err
	}
	f := r.Roots.Follow
	if f == nil {
		return out, nil
	}
	direction, ok := graph.ParseDirection(f.Direction)
	switch {
	case !ok:
		return spec.Spec{}, fmt.Errorf("roots.follow.direction: %q is no direction, use down, up or both", f.Direction)
	case len(r.Roots.IgnoreArcDirection) > 0:
		return spec.Spec{}, errors.New("roots: follow and ignore_arc_direction exclude each other, leave one out")
	case f.Depth < 0 || f.Depth > graph.MaxDepth:
		return spec.Spec{}, fmt.Errorf("roots.follow.depth: %d is not between 0 and %d", f.Depth, graph.MaxDepth)
	}
	types, err := parseArcTypes("roots.follow.types", f.Types)
	if err != nil {
		return spec.Spec{}, err
	}
	out.Roots.Follow = &spec.Follow{Direction: direction, Depth: f.Depth, Types: types}
	return out, nil
}

func parseArcTypes(path string, names []string) ([]graph.ArcType, error) {
	var types []graph.ArcType
	for i, name := range names {
		t, ok := graph.ParseArcType(name)
		if !ok {
			return nil, fmt.Errorf("%s[%d]: %q is no arc type, use or, r or t", path, i, name)
		}
		types = append(types, t)
	}
	return types, nil
}
