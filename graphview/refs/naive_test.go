package refs

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"graphview.dev/graphview/graph"
)

// naive is the twin that the extractor is compared with: it takes one rule
// after the other, expands its path into the concrete paths that the object
// has, and reads companions by rewriting those. It shares no code with the
// extractor except the reading of a single selector and of owner references.
// It returns a set: the order is the trees' own affair.
func naive(rules []Rule, kind graph.Kind, object map[string]any) map[string]bool {
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	out := map[string]bool{}
	owners := extraction{namespace: namespace}
	owners.owners(nil, metadata)
	for _, ref := range owners.found.all() {
		out[renderOne(&ref)] = true
	}
	for i := range rules {
		if rules[i].From != kind && rules[i].From != AnyKind {
			continue
		}
		for _, path := range expand(object, split(rules[i].Path)) {
			for _, ref := range naiveReferences(&rules[i], object, namespace, path) {
				here := ref.Scope == graph.ScopeCluster || ref.Namespace == namespace
				byName := ref.Selector == nil && (rules[i].Method == Name || rules[i].Method == Object)
				if itself := byName && here && ref.To == kind && ref.Name == name; naiveExists(ref) && !itself {
					out[renderOne(&ref)] = true
				}
			}
		}
	}
	return out
}

var (
	kindLike  = regexp.MustCompile(`^[A-Za-z0-9.-]{1,63}$`)
	groupLike = regexp.MustCompile(`^[A-Za-z0-9.-]{0,253}$`)
	spaceLike = regexp.MustCompile(`^[A-Za-z0-9.-]{0,63}$`)
	nameLike  = regexp.MustCompile(`^[!-$&-.0-~]{1,253}$`)
	unlike    = regexp.MustCompile(`[*{}$<>]`)
)

// naiveExists is a simple version of exists.
func naiveExists(ref graph.Reference) bool {
	named := nameLike.MatchString(ref.Name) && ref.Name != "." && ref.Name != ".." &&
		(ref.To.Group == "rbac.authorization.k8s.io" || !unlike.MatchString(ref.Name))
	return kindLike.MatchString(ref.To.Kind) && groupLike.MatchString(ref.To.Group) && spaceLike.MatchString(ref.Namespace) && (ref.Selector != nil || named)
}

// split cuts a path into keys, "[]" and "{}".
func split(path string) []string {
	var out []string
	for path != "" {
		switch {
		case strings.HasPrefix(path, "[]"), strings.HasPrefix(path, "{}"):
			out, path = append(out, path[:2]), path[2:]
		case strings.HasPrefix(path, "['"):
			key, rest, _ := strings.Cut(path[2:], "']")
			out, path = append(out, key), rest
		case path[0] == '.':
			path = path[1:]
		default:
			end := strings.IndexAny(path, ".[{")
			if end < 0 {
				end = len(path)
			}
			out, path = append(out, path[:end]), path[end:]
		}
	}
	return out
}

// expand returns the concrete paths, with indices and keys, that match.
func expand(value any, path []string) [][]string {
	if len(path) == 0 {
		return [][]string{nil}
	}
	var keys []string
	switch list, isList := value.([]any); {
	case path[0] == "[]" && isList:
		for i := range list {
			keys = append(keys, strconv.Itoa(i))
		}
	case path[0] == "{}":
		object, _ := value.(map[string]any)
		keys = slices.Collect(maps.Keys(object))
	case path[0] != "[]":
		if object, ok := value.(map[string]any); ok {
			if _, ok := object[path[0]]; ok {
				keys = path[:1]
			}
		}
	}
	var out [][]string
	for _, key := range keys {
		for _, below := range expand(get(value, []string{key}), path[1:]) {
			out = append(out, append([]string{key}, below...))
		}
	}
	return out
}

// get reads a concrete path.
func get(value any, path []string) any {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// companionOf reads a companion field of the reference at a concrete path.
func companionOf(rule *Rule, object any, path []string, field string) any {
	pattern := split(rule.Path)
	base := path
	if rule.Method != Object {
		last := len(pattern) - 1
		for pattern[last] == "[]" || pattern[last] == "{}" {
			last--
		}
		base = path[:last]
	}
	relative, fromRoot := strings.CutPrefix(field, ".")
	keys := split(relative)
	if fromRoot {
		// The lists and maps of the field are those of the path.
		for i := range keys {
			if keys[i] == "[]" || keys[i] == "{}" {
				keys[i] = path[i]
			}
		}
		return get(object, keys)
	}
	return get(get(object, base), keys)
}

// naiveReferences are those of a rule at a concrete path.
func naiveReferences(rule *Rule, object any, own string, path []string) []graph.Reference {
	ref := graph.Reference{Type: max(rule.Type, graph.Direct), Scope: rule.Scope, AllNamespaces: rule.AllNamespaces, Field: rule.Path}
	if rule.Inferred || rule.Method == Address || rule.Method == Names && !rule.Required {
		ref.Inferred, ref.Field = true, graph.InferredField+rule.Path
	}
	value := get(object, path)
	ok := false
	switch rule.Method {
	case Name:
		ref.Name, _ = value.(string)
		ok = ref.Name != ""
	case Object:
		ref.Name, _ = get(value, []string{"name"}).(string)
		_, isObject := value.(map[string]any)
		ok = isObject && ref.Name != ""
	case Selector:
		ref.Selector = labelSelector(value)
		ok = ref.Selector != nil && (rule.EmptySelectsAll || len(ref.Selector.Requirements) > 0)
	case Labels:
		ref.Selector = labelsSelector(value)
		ok = ref.Selector != nil && (rule.EmptySelectsAll || len(ref.Selector.Requirements) > 0)
	case Address:
		text, _ := value.(string)
		name, _ := companionOf(rule, object, path, rule.Hosts).(string)
		if rule.Hosts != "" && own != "" && regexp.MustCompile(`(?i)(host|address|addr|endpoint|server)(-name)?$`).MatchString(name) && naiveLabels.MatchString(text) && !isDigits(text) {
			ref.To, ref.Namespace, ref.Name, ref.Optional = graph.Kind{Kind: "Service"}, own, text, true
			return []graph.Reference{ref}
		}
		return naiveAddresses(ref, own, text)
	case Names:
		text, _ := value.(string)
		ok = text != ""
	case Inventory:
		id, _ := value.(string)
		ok = naiveEntry(&ref, id)
	case Application:
		text, _ := value.(string)
		ok = text != ""
	}
	look := func(field string) any { return companionOf(rule, object, path, field) }
	for _, condition := range rule.If {
		ok = ok && naiveHolds(condition, look)
	}
	for _, condition := range rule.Unless {
		ok = ok && !naiveHolds(condition, look)
	}
	if !ok {
		return nil
	}
	ref.Optional = rule.Optional || rule.Inferred || !rule.Required && rule.Method != Inventory && !requiresTarget(rule.Path)
	for _, condition := range rule.OptionalIf {
		ref.Optional = ref.Optional || naiveHolds(condition, look)
	}
	if rule.Method == Inventory {
		return []graph.Reference{ref}
	}
	if rule.Method == Application {
		text, _ := value.(string)
		return naiveApplication(rule, text)
	}
	if rule.Method == Names {
		text, _ := value.(string)
		return naiveNames(rule, ref, own, text)
	}
	if !naiveName(rule, &ref, look) {
		return nil
	}
	if ref.To.Group, ok = naivePart(rule, &rule.To.Group, object, path, true); !ok {
		return nil
	}
	if ref.To.Kind, ok = naivePart(rule, &rule.To.Kind, object, path, false); !ok || ref.To.Kind == "" {
		return nil
	}
	if rule.Mark != "" {
		return naiveMarked(rule, ref, own, look)
	}
	if field := rule.Selected + rule.Listed; field != "" {
		return naiveWithin(rule, ref, own, look(field))
	}
	return naiveIn(rule, ref, own, look)
}

// naiveIn is a reference where its rule says, which may be nowhere.
func naiveIn(rule *Rule, ref graph.Reference, own string, look func(string) any) []graph.Reference {
	if rule.Scope == graph.ScopeCluster || rule.AllNamespaces {
		ref.Namespace = ""
		return []graph.Reference{ref}
	}
	for _, field := range rule.Namespace {
		value := look(field)
		text, isText := value.(string)
		if ref.Namespace == "" && (value != nil && !isText || !namespaceForm.MatchString(text)) {
			return nil
		}
		ref.Namespace = cmp.Or(ref.Namespace, text)
	}
	ref.Namespace = cmp.Or(ref.Namespace, own)
	if ref.Namespace == "" && rule.Scope != graph.ScopeUnknown {
		var all []graph.Reference
		if project, _, ok := strings.Cut(DomainOf(rule.From.Group), "."); ok && rule.OfProject {
			for _, ref.Namespace = range []string{project, project + "-system"} {
				ref.Inferred, ref.Optional, ref.Field = true, true, graph.InferredField+rule.Path
				all = append(all, ref)
			}
		}
		return all
	}
	return []graph.Reference{ref}
}

// naiveMarked selects one mark in place of the name.
func naiveMarked(rule *Rule, ref graph.Reference, own string, look func(string) any) []graph.Reference {
	found := naiveIn(rule, ref, own, look)
	for i := range found {
		if len(rule.Namespace) > 0 && look(rule.Namespace[0]) == nil {
			found[i].Scope, found[i].Namespace = graph.ScopeCluster, ""
		}
		found[i].Selector = &graph.Selector{Requirements: []graph.Requirement{{Key: rule.Mark, Values: []string{ref.Name}}}}
		found[i].Name = ""
	}
	return found
}

func naiveWithin(rule *Rule, ref graph.Reference, own string, value any) []graph.Reference {
	var names []string
	switch {
	case value == nil:
		names = []string{own}
	case rule.Listed != "":
		list, isList := get(value, []string{"matchNames"}).([]any)
		_, isObject := value.(map[string]any)
		switch {
		case get(value, []string{"any"}) == true:
			ref.AllNamespaces = true
		case isObject && len(list) == 0 && (isList || get(value, []string{"matchNames"}) == nil):
			names = []string{own}
		}
		for _, element := range list {
			text, _ := element.(string)
			names = append(names, text)
		}
	default:
		selector := labelSelector(value)
		switch {
		case selector == nil:
		case len(selector.Requirements) == 0:
			ref.AllNamespaces = true
		case len(selector.Requirements) == 1 && selector.Requirements[0].Key == nameLabel && selector.Requirements[0].Op == graph.In:
			names = selector.Requirements[0].Values
		default:
			ref.AllNamespaces, ref.Namespaces = true, selector
		}
	}
	if ref.AllNamespaces {
		return []graph.Reference{ref}
	}
	var out []graph.Reference
	for _, name := range names {
		if name != "" {
			ref.Namespace = name
			out = append(out, ref)
		}
	}
	return out
}

func naivePart(rule *Rule, part *Part, object any, path []string, group bool) (string, bool) {
	if part.Field == "" {
		return part.Value, true
	}
	value := companionOf(rule, object, path, part.Field)
	text, isText := value.(string)
	if is, isBool := value.(bool); isBool {
		text, isText = strconv.FormatBool(is), part.Values[strconv.FormatBool(is)] != ""
	}
	switch {
	case value == nil, !group && isText && text == "" && part.Values == nil:
		return part.Value, true
	case !isText:
		return "", false
	case part.Values != nil:
		meaning, ok := part.Values[text]
		return meaning, ok
	case group && strings.HasSuffix(part.Field, "apiVersion"):
		pieces := strings.Split(text, "/")
		if len(pieces) == 1 {
			return "", true
		}
		return pieces[0], len(pieces) == 2 && pieces[0] != "" && pieces[1] != ""
	}
	return text, true
}
