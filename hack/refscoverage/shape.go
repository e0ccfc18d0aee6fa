package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// The names of fields that are references. A field "name" is a part of an object reference, which is found by its
// own name or its shape (refers).
var (
	nameKey   = regexp.MustCompile(`^(.+[a-z]Name|.*[rR]ef|serviceAccount|driver|provisioner|attacher|endpoints|subdomain|externalName)$`)
	objectKey = regexp.MustCompile(`^(.*([rR]ef|Reference|[sS]elector)s?)$`)
	namesKey  = regexp.MustCompile(`^(.*Names|.*[rR]efs)$`)
)

// walk finds the fields of a kind that look like references.
type walk struct {
	schemas map[string]*schema
	found   map[string]bool
}

// fields walks the properties of an object. It does not enter the schemas in within again, which lead
// to the object.
func (w *walk) fields(path string, s *schema, within []*schema) {
	s = w.resolve(s)
	if s == nil || slices.Contains(within, s) {
		return
	}
	within = append(within, s)
	for key, property := range s.Properties {
		if key == "metadata" || path == "" && (key == "kind" || key == "apiVersion") {
			continue
		}
		below := key
		if path != "" {
			below = path + "." + key
		}
		w.field(below, key, property, within)
	}
}

func (w *walk) field(path, key string, s *schema, within []*schema) {
	s = w.resolve(s)
	switch {
	case s == nil:
	case s.Type == "string":
		if nameKey.MatchString(key) {
			w.found[path] = true
		}
	case s.Type == "array":
		items := w.resolve(s.Items)
		if items != nil && items.Type == "string" {
			if namesKey.MatchString(key) {
				w.found[path+"[]"] = true
			}
			return
		}
		w.object(path+"[]", key, items, within)
	default:
		w.object(path, key, s, within)
	}
}

func (w *walk) object(path, key string, s *schema, within []*schema) {
	if s == nil {
		return
	}
	if objectKey.MatchString(key) || s.refers() {
		w.found[path] = true
		return
	}
	var values schema
	if json.Unmarshal(s.AdditionalProperties, &values) == nil && (values.Ref != "" || len(values.AllOf) > 0) {
		w.fields(path+"{}", &values, within)
	}
	w.fields(path, s, within)
}

// refers reports whether the schema has the shape of an object reference: a name beside a kind, a resource or a
// namespace, or with hardly another property.
func (s *schema) refers() bool {
	if s.Properties["name"] == nil {
		return false
	}
	for _, of := range []string{"kind", "resource", "namespace"} {
		if s.Properties[of] != nil && len(s.Properties) < 9 {
			return true
		}
	}
	return len(s.Properties) <= 3 && (s.Properties["optional"] != nil || len(s.Properties) == 1)
}

// resolve follows $ref, which stands alone or in an allOf with one element.
func (w *walk) resolve(s *schema) *schema {
	for s != nil {
		switch {
		case s.Ref != "":
			s = w.schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
		case len(s.AllOf) == 1 && len(s.Properties) == 0:
			s = s.AllOf[0]
		default:
			return s
		}
	}
	return nil
}
