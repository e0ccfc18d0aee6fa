package oracle

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// View is a GraphView's spec, in the oracle's own type.
type View struct {
	Queries    []Query     `json:"queries"`
	Namespaces *Namespaces `json:"namespaces,omitempty"`
	Roots      *Roots      `json:"roots,omitempty"`
	// Rules are the existing ReferenceRules, which are not part of the spec.
	Rules []Rule `json:"-"`
	// Summaries reports whether the subscriber asks for summaries in place of objects.
	Summaries bool `json:"-"`
}

// Query includes or excludes the resources that it matches.
type Query struct {
	Include *Include `json:"include,omitempty"`
	Exclude *Exclude `json:"exclude,omitempty"`
}

// Include selects resources and some of their objects.
type Include struct {
	ResourceSelectorExpression string `json:"resourceSelectorExpression"`
	Object                     Filter `json:"object,omitzero"`
}

// Exclude excludes resources.
type Exclude struct {
	ResourceSelectorExpression string `json:"resourceSelectorExpression"`
}

// Filter selects objects, and with Fields or JSONPath parts of them.
type Filter struct {
	LabelSelector            string            `json:"labelSelector,omitempty"`
	FieldSelector            string            `json:"fieldSelector,omitempty"`
	ObjectSelectorExpression string            `json:"objectSelectorExpression,omitempty"`
	Fields                   map[string]string `json:"fields,omitempty"`
	JSONPath                 string            `json:"jsonPath,omitempty"`
}

// Namespaces selects namespaces.
type Namespaces struct {
	Names                    []string `json:"names,omitempty"`
	LabelSelector            string   `json:"labelSelector,omitempty"`
	FieldSelector            string   `json:"fieldSelector,omitempty"`
	ObjectSelectorExpression string   `json:"objectSelectorExpression,omitempty"`
}

// Roots selects the objects from which all visible objects can be reached.
type Roots struct {
	ObjectSelectorExpressions []string `json:"objectSelectorExpressions,omitempty"`
	IgnoreArcDirection        []string `json:"ignoreArcDirection,omitempty"`
	Follow                    *Follow  `json:"follow,omitempty"`
}

// Follow has the direction and the number of steps from the roots.
type Follow struct {
	Direction string   `json:"direction"`
	Depth     int      `json:"depth,omitempty"`
	Types     []string `json:"types,omitempty"`
}

// ParseView reads the spec of a GraphView from its YAML or JSON.
func ParseView(manifest []byte) (View, error) {
	var graphView struct {
		Spec View `json:"spec"`
	}
	if err := yaml.Unmarshal(manifest, &graphView); err != nil {
		return View{}, fmt.Errorf("parse GraphView: %w", err)
	}
	return graphView.Spec, nil
}
