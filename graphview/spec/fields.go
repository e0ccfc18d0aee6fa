package spec

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"graphview.dev/graphview/expr"
)

// The bounds of the fields of a query, the same as those of the GraphView CRD.
const (
	maxFields    = 32
	maxFieldPath = 1024
)

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,62}$`)

// fields compiles the named parts of objects.
func (c *compiler) fields(path string, o *ObjectFilter) Parts {
	if o.JSONPath != "" {
		c.shape(path, "has fields and jsonPath, which exclude each other; fields names what jsonPath returns as a list")
	}
	path += ".fields"
	if n := len(o.Fields); n > maxFields {
		c.shape(path, "must have at most %d fields, has %d", maxFields, n)
		return nil
	}
	fields := make([]expr.Field, 0, len(o.Fields))
	for _, name := range slices.Sorted(maps.Keys(o.Fields)) {
		if !fieldName.MatchString(name) {
			c.shape(path, "%s is not a field's name; expected at most 63 letters, digits, '_', '.' and '-', of which the first is a letter or '_'", quoted(name[:min(len(name), 64)]))
			continue
		}
		text := o.Fields[name]
		if len(text) > maxFieldPath {
			c.shape(path+"."+name, "must have at most %d characters", maxFieldPath)
			continue
		}
		field, err := expr.ParseField(name, text)
		if c.check(path+"."+name, err) {
			fields = append(fields, field)
		}
	}
	return expr.NewFields(fields)
}

// text is the same for equal filters alone.
func (o *ObjectFilter) text() string {
	text, _ := json.Marshal(o) // strings, and a map of them, which is sorted
	return string(text)
}
