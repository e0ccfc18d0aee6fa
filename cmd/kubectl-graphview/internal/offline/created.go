package offline

import (
	_ "embed"
	"path"
	"regexp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:embed created.txt
var createdTable string

// creation is a row of the table: objects that a controller creates for one of a kind.
type creation struct {
	kind      schema.GroupKind // of the created object; * for any
	names     []string         // with fields, in order of preference
	namespace string           // with fields; "" for that of the creator, * for any
	condition string
	prefix    bool
}

// creations returns the rows by the kind of the creator.
var creations = sync.OnceValue(func() map[schema.GroupKind][]creation {
	all := map[schema.GroupKind][]creation{}
	for line := range strings.Lines(createdTable) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] == "#" {
			continue
		}
		row := creation{kind: parseKind(words[1]), names: strings.Split(words[2], "|")}
		for _, word := range words[3:] {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "ns":
				row.namespace = value
			case "if":
				row.condition = value
			case "prefix":
				row.prefix = true
			}
		}
		of := parseKind(words[0])
		all[of] = append(all[of], row)
	}
	return all
})

// parseKind reads GROUP/KIND, or the KIND of the core group.
func parseKind(text string) schema.GroupKind {
	group, kind, ok := strings.Cut(text, "/")
	if !ok {
		return schema.GroupKind{Kind: text}
	}
	return schema.GroupKind{Group: strings.TrimPrefix(group, "core"), Kind: kind}
}

var fieldInName = regexp.MustCompile(`\{([^{}]+(?:\{\})?)\}`)

// product is an object that a controller creates, or all objects whose names begin alike.
type product struct {
	kind            schema.GroupKind
	namespace, name string // the namespace may be *
	prefix          bool
	creator         *Object
}

// products returns the objects that controllers create for an object.
func products(o *Object) []product {
	var all []product
	for _, rows := range [][]creation{creations()[o.GroupKind], creations()[schema.GroupKind{Group: "*", Kind: "*"}]} {
		for _, row := range rows {
			if row.condition != "" && len(values(o.Content, pathSteps(row.condition))) == 0 {
				continue
			}
			namespaces := []string{o.Namespace}
			if row.namespace == "*" {
				namespaces = []string{"*"}
			} else if named := expand(row.namespace, o.Content); len(named) > 0 {
				namespaces = named
			}
			if variable.MatchString(namespaces[0]) { // as of an ApplicationSet, for which a generator decides
				namespaces = []string{"*"}
			}
			for _, template := range row.names {
				names := expand(template, o.Content)
				for _, name := range names {
					for _, namespace := range namespaces {
						all = append(all, product{row.kind, namespace, name, row.prefix, o})
					}
				}
				if len(names) > 0 {
					break
				}
			}
		}
	}
	return all
}

// expand replaces the fields in a name: none if one is absent, several for the elements of a list.
func expand(template string, content map[string]any) []string {
	found := fieldInName.FindStringSubmatchIndex(template)
	switch {
	case template == "":
		return nil
	case found == nil:
		return []string{template}
	}
	var all []string
	for _, value := range values(content, pathSteps(template[found[2]:found[3]])) {
		for _, rest := range expand("."+template[found[1]:], content) {
			all = append(all, template[:found[0]]+value+rest[1:])
		}
	}
	return all
}

// variable is a part of a name that is replaced before the object is applied.
var variable = regexp.MustCompile(`\$\{[^}]*\}|\{\{.*?\}\}`)

// values returns the strings at a path; with {} at its end, the keys of a map.
func values(content any, steps []string) []string {
	if len(steps) == 0 {
		switch value := content.(type) {
		case string:
			return []string{value}
		case bool, map[string]any:
			return []string{""}
		}
		return nil
	}
	var all []string
	switch of := content.(type) {
	case map[string]any:
		if steps[0] == "{}" {
			for key := range of {
				all = append(all, key)
			}
			return all
		}
		return values(of[steps[0]], steps[1:])
	case []any:
		if steps[0] == "[]" {
			for _, element := range of {
				all = append(all, values(element, steps[1:])...)
			}
		}
	}
	return all
}

// covers reports whether the product is, or may be, the object of a key.
func (p *product) covers(key Key) bool {
	switch {
	case p.kind.Kind != "*" && p.kind != key.GroupKind, p.namespace != "*" && p.namespace != key.Namespace:
		return false
	case p.name == "*":
		_, builtin := builtinKinds()[key.GroupKind]
		return builtin
	case p.prefix:
		return key.Name == p.name || strings.HasPrefix(key.Name, p.name+"-")
	default:
		ok, err := path.Match(p.name, key.Name)
		return ok && err == nil
	}
}
