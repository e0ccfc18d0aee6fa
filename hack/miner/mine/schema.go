package mine

// schema is what a CustomResourceDefinition says of a value.
type schema struct{ raw map[string]any }

func (s *schema) description() string {
	if s == nil {
		return ""
	}
	text, _ := s.raw["description"].(string)
	return text
}

func (s *schema) of(raw any) *schema {
	if m, ok := raw.(map[string]any); ok {
		return &schema{m}
	}
	return nil
}

// member returns the schema of a key's value, and whether the key is one of a map.
func (s *schema) member(key string) (below *schema, ofMap bool) {
	if s == nil {
		return nil, false
	}
	properties, _ := s.raw["properties"].(map[string]any)
	if below := s.of(properties[key]); below != nil {
		return below, false
	}
	below = s.of(s.raw["additionalProperties"])
	return below, below != nil
}

func (s *schema) memberOnly(key string) *schema {
	below, ofMap := s.member(key)
	if ofMap {
		return nil
	}
	return below
}

func (s *schema) element() *schema {
	if s == nil {
		return nil
	}
	return s.of(s.raw["items"])
}

// closed tells whether the value is one of a list.
func (s *schema) closed() bool {
	if s == nil {
		return false
	}
	values, _ := s.raw["enum"].([]any)
	return len(values) > 0
}

// define notes the kind of a CustomResourceDefinition.
func (k *Kinds) define(crd map[string]any) {
	spec, _ := crd["spec"].(map[string]any)
	group, _ := spec["group"].(string)
	names, _ := spec["names"].(map[string]any)
	name, _ := names["kind"].(string)
	scope, _ := spec["scope"].(string)
	if group == "" || name == "" {
		return
	}
	d := &definition{kind: Kind{group, name}, cluster: scope == "Cluster", schemas: map[string]*schema{}}
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		label, _ := version["name"].(string)
		within, _ := version["schema"].(map[string]any)
		if s, ok := within["openAPIV3Schema"].(map[string]any); ok {
			d.schemas[label] = &schema{s}
			if stored, _ := version["storage"].(bool); stored || d.stored == nil {
				d.stored = d.schemas[label]
			}
		}
	}
	k.add(d)
}

// schemaOf returns the schema of an object's version, or of the one that is stored.
func (d *definition) schemaOf(version string) *schema {
	if s := d.schemas[version]; s != nil {
		return s
	}
	return d.stored
}
