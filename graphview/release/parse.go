package release

import (
	"encoding/json"

	"sigs.k8s.io/yaml"
)

// maxParsed bounds what of one release a YAML parser is given, which takes a
// hundred times as long as scanning.
const maxParsed = 2 << 20

// parse reads a document of any layout, and the items of a list.
func (m *manifest) parse(text []byte) ([]document, error) {
	if m.parsed += len(text); m.parsed > maxParsed {
		return nil, errDocument
	}
	converted, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, errManifest // an error of YAML quotes
	}
	var value any
	if err := json.Unmarshal(converted, &value); err != nil {
		return nil, errManifest
	}
	items, _ := member(value, "items").([]any)
	if len(items) == 0 {
		items = []any{value}
	}
	all := make([]document, len(items))
	for i, item := range items {
		metadata := member(item, "metadata")
		// What is not of the type it should be cannot have been installed, and stays
		// empty.
		all[i].apiVersion, _ = member(item, "apiVersion").(string)
		all[i].kind, _ = member(item, "kind").(string)
		all[i].namespace, _ = member(metadata, "namespace").(string)
		all[i].name, _ = member(metadata, "name").(string)
	}
	return all, nil
}

// member is a member of an object, nil for anything else.
func member(value any, key string) any {
	object, _ := value.(map[string]any)
	return object[key]
}
