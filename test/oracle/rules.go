package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Rule is a ReferenceRule, in the oracle's own type.
type Rule struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		From       GroupKind         `json:"from"`
		References []RuleDeclaration `json:"references"`
		// Conventions is Replace, or Keep.
		Conventions string `json:"conventions,omitempty"`
	} `json:"spec"`
}

// GroupKind is a kind.
type GroupKind struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
}

// RuleDeclaration is one reference of a Rule.
type RuleDeclaration struct {
	Path          string    `json:"path,omitempty"`
	To            GroupKind `json:"to,omitzero"`
	NamespacePath string    `json:"namespacePath,omitempty"`
	Expression    string    `json:"expression,omitempty"`
	Type          string    `json:"type,omitempty"`
	Word          string    `json:"word,omitempty"`
}

// ParseRule reads a ReferenceRule from its YAML or JSON.
func ParseRule(manifest []byte) (Rule, error) {
	var rule Rule
	if err := yaml.UnmarshalStrict(manifest, &rule); err != nil {
		return Rule{}, fmt.Errorf("parse ReferenceRule: %w", err)
	}
	return rule, nil
}

type compiledRules []compiledRule

type compiledRule struct {
	from  schema.GroupKind
	field string
	arc   string
	// The tokens of paths, or a program.
	path, namespace []string
	to              schema.GroupKind
	program         cel.Program
}

// token matches a key, or the sign for all elements or all values.
var token = regexp.MustCompile(`\['[^']+'\]|\[\]|\{\}|[^.\[{]+`)

func compileRules(rules []Rule) (compiledRules, error) {
	var all compiledRules
	for i := range rules {
		for _, r := range rules[i].Spec.References {
			c := compiledRule{from: schema.GroupKind(rules[i].Spec.From), field: r.Path, arc: cmp.Or(r.Type, "r"), to: schema.GroupKind(r.To)}
			if r.Expression != "" {
				c.field = "referencerule/" + rules[i].Metadata.Name
				program, err := compileEntries(r.Expression)
				if err != nil {
					return nil, err
				}
				c.program = program
			} else {
				c.path = token.FindAllString(r.Path, -1)
				c.namespace = token.FindAllString(r.NamespacePath, -1)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// ruleLanguage is CEL without the restrictions of Kubernetes: a map may have values of several types.
var ruleLanguage = sync.OnceValues(func() (*cel.Env, error) {
	texts := cel.MapType(cel.StringType, cel.StringType)
	return cel.NewEnv(
		cel.OptionalTypes(), ext.Strings(), ext.Lists(), ext.Sets(), cel.EnableIdentifierEscapeSyntax(),
		cel.Variable("obj", cel.DynType), cel.Variable("group", cel.StringType), cel.Variable("version", cel.StringType),
		cel.Variable("resource", cel.StringType), cel.Variable("name", cel.StringType),
		cel.Variable("labels", texts), cel.Variable("annotations", texts),
	)
})

func compileEntries(text string) (cel.Program, error) {
	env, err := ruleLanguage()
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	return programOf(env, text)
}

// references returns the references of one object by the rules.
func (all compiledRules) references(o *object) []reference {
	var found []reference
	for _, c := range all {
		switch {
		case c.from != o.kind:
		case c.program != nil:
			found = append(found, c.entries(o)...)
		default:
			found = append(found, c.names(o)...)
		}
	}
	return found
}

// place is a value in a tree with the index or key in each list and map that
// the path iterates over.
type place struct {
	value any
	where []string
}

// follow returns all places that a path leads to.
func follow(from place, path []string) []place {
	if len(path) == 0 {
		return []place{from}
	}
	var all []place
	below := func(value any, where ...string) {
		all = append(all, follow(place{value, slices.Concat(from.where, where)}, path[1:])...)
	}
	list, _ := from.value.([]any)
	tree, _ := from.value.(map[string]any)
	switch key := path[0]; {
	case key == "[]":
		for i, element := range list {
			below(element, strconv.Itoa(i))
		}
	case key == "{}":
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			below(tree[key], key)
		}
	default:
		if key[0] == '[' {
			key = key[2 : len(key)-2]
		}
		if value, ok := tree[key]; ok {
			below(value)
		}
	}
	return all
}

var namespaceName = regexp.MustCompile(`^[-a-z0-9]*$`)

// names returns the references of a rule with a path.
func (c compiledRule) names(o *object) []reference {
	var found []reference
	for _, p := range follow(place{value: o.tree}, c.path) {
		name, _ := p.value.(string)
		if name == "" {
			continue
		}
		namespace, sensible := o.key.Namespace, true
		if len(c.namespace) > 0 {
			for _, n := range follow(place{value: o.tree}, c.namespace) {
				// The path of the namespace must be a prefix of the path of the name.
				if n.value == nil || len(n.where) > len(p.where) || !slices.Equal(n.where, p.where[:len(n.where)]) {
					continue
				}
				said, isText := n.value.(string)
				sensible = isText && namespaceName.MatchString(said)
				namespace = cmp.Or(said, namespace)
			}
		}
		itself := c.to == o.kind && name == o.key.Name && namespace == o.key.Namespace
		if sensible && !itself {
			found = append(found, reference{arc: c.arc, field: c.field, to: c.to, namespace: namespace, name: name})
		}
	}
	return found
}

// entries returns the references of a rule with an expression: none if it fails, and without
// malformed entries.
func (c compiledRule) entries(o *object) []reference {
	values := o.values()
	delete(values, "namespace") // a word that CEL reserves
	result, _, err := c.program.Eval(values)
	if err != nil {
		return nil
	}
	list, ok := result.(traits.Lister)
	if !ok {
		return nil
	}
	var found []reference
	for element := list.Iterator(); element.HasNext() == types.True; {
		entry := textsOf(element.Next())
		group, grouped := entry["group"]
		if !grouped || entry["kind"] == "" || entry["name"] == "" {
			continue
		}
		found = append(found, reference{
			arc: c.arc, field: c.field, to: schema.GroupKind{Group: group, Kind: entry["kind"]},
			namespace: cmp.Or(entry["namespace"], o.key.Namespace), name: entry["name"],
		})
	}
	return found
}

// textsOf returns a map of texts; nil for another value.
func textsOf(value ref.Val) map[string]string {
	entry, ok := value.(traits.Mapper)
	if !ok {
		return nil
	}
	all := map[string]string{}
	for key := entry.Iterator(); key.HasNext() == types.True; {
		k := key.Next()
		name, isText := k.Value().(string)
		text, alsoText := entry.Get(k).Value().(string)
		if !isText || !alsoText {
			return nil
		}
		all[name] = text
	}
	return all
}
