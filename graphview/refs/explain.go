package refs

import (
	"cmp"
	"slices"
	"strings"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs/schema"
)

// Source says why a field is read as a reference.
type Source string

// The sources of references, the most certain first.
const (
	ByTable      Source = "table"
	BySchema     Source = "schema"
	ByConvention Source = "convention"
)

// Explained is a field of a kind, and the reference that it is read as.
type Explained struct {
	Path   string
	To     string // group/Kind, core/Kind, or {apiVersion}/{kind} if the object has the kind
	Source Source
	// Inferred: the arc exists only while an object of that name exists.
	Inferred bool
	Selector bool
	Type     graph.ArcType
}

// sampleGroup and sampleKind are the texts that objectOf writes into fields for a group and for a kind.
const sampleGroup, sampleKind = "said.by.the.object", "Said"

// Explain returns the fields of a kind that are read as references, by the table, by the
// schema of the kind (nil if it is unknown) and by convention.
func (s *Served) Explain(kind graph.Kind, of *schema.Schema) ([]Explained, error) {
	var all []Explained
	for _, rule := range builtin().table.rulesOf(kind) {
		if rule.From == kind {
			all = append(all, explained(&rule, ByTable))
		}
	}
	found, err := s.SchemaRules(kind, of)
	if err != nil {
		return all, err
	}
	for i := range found.Rules {
		all = append(all, explained(&found.Rules[i], BySchema))
	}
	if of != nil && Builtin().Infers(kind) {
		reading, err := s.Read(kind, of)
		if err != nil {
			return all, err
		}
		fields := int(schema.Size.Limit())
		object, _ := objectOf(of, 0, &fields).(map[string]any)
		if object == nil {
			object = map[string]any{}
		}
		object["metadata"] = map[string]any{"namespace": "own"}
		for _, ref := range conventions(s, kind, object, reading.nodes(&Builtin().commonRules), int(schema.Size.Limit())) {
			all = append(all, Explained{
				Path: strings.ReplaceAll(strings.TrimPrefix(ref.Field, graph.InferredField), "."+mapKey, "{}"), To: targetText(ref.To), Source: ByConvention,
				Inferred: ref.Inferred, Selector: ref.Selector != nil, Type: ref.Type,
			})
		}
	}
	slices.SortFunc(all, func(a, b Explained) int { return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.To, b.To)) })
	return slices.Compact(all), nil
}

func explained(rule *Rule, source Source) Explained {
	part := func(p Part) string {
		if p.Field != "" {
			return "{" + p.Field + "}"
		}
		return cmp.Or(p.Value, "core")
	}
	to := part(rule.To.Group) + "/" + part(rule.To.Kind)
	if rule.Method.lists() {
		to = "what it lists"
	}
	return Explained{
		Path: rule.Path, To: to, Source: source, Inferred: rule.Inferred || rule.Method.infers(), Selector: rule.Method.selects(),
		Type: cmp.Or(rule.Type, graph.Direct),
	}
}

func targetText(kind graph.Kind) string {
	if kind.Kind == sampleKind {
		return "{apiVersion}/{kind}"
	}
	return kindString(kind)
}

// mapKey stands for any key of a map.
const mapKey = "any-key"

// objectOf returns an object with every field of a schema, with a name in each text. left
// bounds the number of fields.
func objectOf(s *schema.Schema, depth int, left *int) any {
	if *left--; *left < 0 {
		return nil
	}
	switch {
	case s == nil || s.Embedded || depth > maxGuessDepth:
		return nil
	case s.Type == "string":
		return plantedName
	case s.Items != nil:
		return []any{objectOf(s.Items, depth+1, left)}
	case s.Values != nil:
		return map[string]any{mapKey: objectOf(s.Values, depth+1, left)}
	case s.IsLabelSelector():
		return map[string]any{"matchLabels": map[string]any{"a": "b"}}
	}
	object := map[string]any{}
	for _, p := range s.Properties {
		switch value := objectOf(p.Schema, depth+1, left); {
		case value == nil:
		case p.Key == "namespace" && p.Schema.Type == "string":
		default:
			object[p.Key] = value
		}
	}
	if s.Has("kind", "name") && depth > 0 {
		object["kind"] = sampleKind
		for key, text := range map[string]string{"apiVersion": sampleGroup + "/v1", "apiGroup": sampleGroup, "group": sampleGroup} {
			if s.Has(key) {
				object[key] = text
			}
		}
	}
	return object
}

// plantedName is a valid name, and not an address.
const plantedName = "planted"
