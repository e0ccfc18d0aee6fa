package helm

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"graphview.dev/graphview/budget"
)

// manifest reads the documents of a release's manifest.
type manifest struct {
	namespace string // the release's
	found     []Object
	meter     *budget.Meter
}

func newManifest(namespace string) *manifest {
	return &manifest{namespace: namespace, meter: releaseBytes.Meter()}
}

// read returns the objects of the documents. With a budget.Exceeded, it returns those before the limit.
func (m *manifest) read(text []byte) ([]Object, error) {
	for len(text) > 0 {
		var one []byte
		if one, text = cutDocument(text); len(one) == 0 {
			continue
		}
		d, plain := scan(one)
		all := []document{d}
		if !plain {
			var err error
			switch all, err = m.parse(one); {
			case errors.Is(err, errManifest):
				return nil, err
			case err != nil:
				return m.found, err
			}
		}
		for _, d := range all {
			if err := m.add(d); err != nil {
				return m.found, err
			}
		}
	}
	return m.found, nil
}

// cutDocument cuts a manifest at the next line that begins with three dashes.
func cutDocument(text []byte) (document, rest []byte) {
	for at := 0; at < len(text); {
		end := bytes.IndexByte(text[at:], '\n')
		line := text[at:]
		if end >= 0 {
			line = text[at : at+end]
		}
		if after, ok := bytes.CutPrefix(line, []byte("---")); ok && (len(after) == 0 || after[0] == ' ' || after[0] == '\t' || after[0] == '\r') {
			after = bytes.TrimSpace(after)
			if len(after) == 0 || after[0] == '#' {
				if end < 0 {
					return text[:at], nil
				}
				return text[:at], text[at+end+1:]
			}
			// The document begins on the line of the dashes.
			return text[:at], text[at+len("---"):]
		}
		if end < 0 {
			break
		}
		at += end + 1
	}
	return text, nil
}

// add adds the object of a document if Kubernetes accepts its names.
func (m *manifest) add(d document) error {
	group, ok := groupOf(d.apiVersion)
	if !ok || len(d.kind) > maxWord || !isName(d.kind) || !isName(d.name) || d.namespace != "" && (len(d.namespace) > maxWord || !isName(d.namespace)) {
		return nil
	}
	if d.namespace == "" {
		d.namespace = m.namespace
	}
	if err := m.meter.Take(listedObject + listedByte*(len(group)+len(d.kind)+len(d.namespace)+len(d.name))); err != nil {
		return err
	}
	m.found = append(m.found, Object{group, d.kind, d.namespace, d.name})
	return nil
}

// groupOf returns the group of an apiVersion.
func groupOf(apiVersion string) (group string, ok bool) {
	group, version, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		return "", isName(apiVersion)
	}
	return group, isName(group) && isName(version)
}

func isName(text string) bool {
	if text == "" || len(text) > maxName {
		return false
	}
	for i := range len(text) {
		if !isNameByte(text[i]) {
			return false
		}
	}
	return true
}

// isNameByte reports whether c may be in the name of a group, a kind or an object. RBAC names have
// colons.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == ':' || c == '_'
}

// parse reads a document of any layout, and the items of a list. It reads the nodes of the
// document: an alias is a pointer to a node, and its value is never expanded.
func (m *manifest) parse(text []byte) ([]document, error) {
	if err := m.meter.Take(parsedDocument + parsedByte*len(text) + parsedNode*nodesOf(text)); err != nil {
		return nil, err
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil || root.Kind != yaml.DocumentNode {
		if err == nil {
			return nil, nil // only comments
		}
		return nil, errManifest // an error of the YAML parser quotes the document
	}
	r := reader{steps: m.meter}
	all := r.documents(root.Content[0])
	return all, r.steps.Err()
}

// nodesOf returns at least half the number of nodes that a parser makes from the text: each node
// begins at the start of the text or follows an indicator.
func nodesOf(text []byte) int {
	count := 1
	for i, c := range text {
		switch c {
		case ':', ',', '[', '{':
			count++
		case '-', '?':
			if i+1 == len(text) || text[i+1] <= ' ' {
				count++
			}
		}
	}
	return count
}

// reader finds the members that identify objects. Each member that it reads is a step, because
// merge keys can lead to the same mapping many times.
type reader struct{ steps *budget.Meter }

// members returns the values of the given keys in a mapping, nil for absent ones. Members of the mapping
// override those of a merge key, and the first merged mapping with a key wins.
func (r reader) members(n *yaml.Node, keys ...string) []*yaml.Node {
	found := make([]*yaml.Node, len(keys))
	n = resolve(n)
	if n == nil || n.Kind != yaml.MappingNode || r.steps.Take(parsedNode*(1+len(n.Content)/2)) != nil {
		return found
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolve(n.Content[i])
		switch at := slices.Index(keys, key.Value); {
		case key.Kind != yaml.ScalarNode:
		case key.Value == "<<" && key.ShortTag() == "!!merge":
			merged = append(merged, n.Content[i+1])
		case at >= 0:
			found[at] = resolve(n.Content[i+1]) // the last of several equal keys counts
		}
	}
	for _, from := range merged {
		sources := []*yaml.Node{from}
		if list := resolve(from); list.Kind == yaml.SequenceNode {
			sources = list.Content
		}
		for _, source := range sources {
			if r.steps.Err() != nil || !slices.Contains(found, nil) {
				return found
			}
			for i, value := range r.members(source, keys...) {
				if found[i] == nil {
					found[i] = value
				}
			}
		}
	}
	return found
}

// documents returns the items of a list, or the node itself.
func (r reader) documents(n *yaml.Node) []document {
	top := r.members(n, "items")
	items := []*yaml.Node{n}
	if list := top[0]; list != nil && list.Kind == yaml.SequenceNode && len(list.Content) > 0 {
		items = list.Content
	}
	var all []document
	for _, item := range items {
		if r.steps.Err() != nil {
			break
		}
		is := r.members(item, "apiVersion", "kind", "metadata")
		of := r.members(is[2], "name", "namespace")
		all = append(all, document{apiVersion: textOf(is[0]), kind: textOf(is[1]), name: textOf(of[0]), namespace: textOf(of[1])})
	}
	return all
}

// resolve returns the node that an alias points to.
func resolve(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// textOf returns the value of a string, and "" for any other type: the API server accepts only strings.
func textOf(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Style == 0 && isOldBoolean(n.Value) {
		return ""
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp": // Kubernetes reads dates as strings
		return n.Value
	}
	return ""
}

// isOldBoolean reports whether a word is a boolean in YAML 1.1, which Kubernetes reads.
func isOldBoolean(text string) bool {
	switch text {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return true
	}
	return false
}
