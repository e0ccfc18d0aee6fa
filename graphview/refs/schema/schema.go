package schema

import (
	"slices"
	"strings"

	"graphview.dev/graphview/budget"
)

// Schema describes a value.
type Schema struct {
	// Type is string, object, array or another type of OpenAPI.
	Type string
	// Closed means that the value is one of an enum, or has a format that names do not have.
	Closed bool
	// Embedded means that the value is an object with an apiVersion and a kind.
	Embedded bool
	// KeyOf is set for the field key of Kubernetes' SecretKeySelector and
	// ConfigMapKeySelector, which have the same fields: Secret or ConfigMap.
	KeyOf string
	// Properties are the fields of an object, sorted by key.
	Properties []Property
	// Items describes the elements of a list, Values the values of a map.
	Items, Values *Schema
}

// Property is a field of an object.
type Property struct {
	Key    string
	Schema *Schema
	// Required means that an object without the field is not valid.
	Required bool
}

// Property returns the schema of a field, nil if there is none.
func (s *Schema) Property(key string) *Schema {
	if s == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(s.Properties, key, func(p Property, key string) int { return strings.Compare(p.Key, key) })
	if !ok {
		return nil
	}
	return s.Properties[i].Schema
}

// Requires reports whether an object without a field is not valid.
func (s *Schema) Requires(key string) bool {
	return s != nil && slices.ContainsFunc(s.Properties, func(p Property) bool { return p.Key == key && p.Required })
}

// Has reports whether an object has all of these fields.
func (s *Schema) Has(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return s.Property(key) == nil })
}

// Size limits the schema of one kind, while it is decoded and while references are found in it.
var Size = budget.Declare("schema_kind", "fields of one kind's schema, each reference that it tells counted as 50", 100_000)

// RuleSize is the share of each reference in a schema's Size.
const RuleSize = 50
