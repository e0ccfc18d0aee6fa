package advice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graphview.dev/graphview/resources"
)

// suggestion is about a name that is not served.
type suggestion struct {
	what, name string // variable and text
	// meant is the expression or the value that the author may have meant; note
	// explains the mistake.
	meant, note string
	// sure: the name is a mistake, even if more kinds are installed later.
	sure bool
}

func (s suggestion) String() string {
	text := fmt.Sprintf("the cluster serves no %s %s", s.what, quoted(s.name))
	if s.note != "" {
		text += ": " + s.note
	}
	if s.meant != "" {
		text += "; did you mean " + s.meant + "?"
	}
	return text
}

// suggest returns a suggestion for a name that is not served. It returns false if the
// name is served.
func (x *index) suggest(c Comparison) (suggestion, bool) {
	if x.has(c) {
		return suggestion{}, false
	}
	if s, ok := x.looks[c]; ok {
		return s, true
	}
	s := suggestion{what: c.Variable, name: c.Text}
	name := strings.Trim(c.Text, " \t\r\n'\"")
	switch {
	case len(name) > maxName:
		return s, true
	case name == "*" || name == "all":
		s.note, s.sure = "names have no patterns; leave the comparison out to match all", true
		return s, true
	}
	look := false
	switch c.Variable {
	case "group":
		look = x.suggestGroup(&s, name)
	case "version":
		x.suggestVersion(&s, name)
	case "resource", "kind":
		look = x.suggestResource(&s, name)
	}
	look = look && len(x.looks) < maxLooks
	if look {
		x.look(&s, name)
	}
	if s.meant == "" && s.note == "" && c.Variable != "version" {
		s.note = "is its CustomResourceDefinition installed?"
	}
	if look {
		x.looks[c] = s
	}
	return s, true
}

// maxName is the maximum length of a name that suggest compares with served names, in bytes.
const maxName = 253

// maxParts is the maximum number of parts of a name that are looked up. A group, a
// version and a resource seldom have more.
const maxParts = 8

// never maps groups whose objects are in no view to the reason.
var never = map[string]string{
	"events.k8s.io":         "its Events are those of the core group, ''",
	"extensions":            "what it had is in 'apps' and 'networking.k8s.io'",
	"stream.graphview.dev":  "graphs are made of objects and are none themselves",
	"metrics.k8s.io":        "its objects cannot be watched",
	"authorization.k8s.io":  "its objects cannot be listed",
	"authentication.k8s.io": "its objects cannot be listed",
}

// suggestGroup completes a suggestion for a group. It returns true if only a comparison
// with all groups can do that.
func (x *index) suggestGroup(s *suggestion, name string) (look bool) {
	group, version, split := strings.Cut(name, "/")
	lower := strings.ToLower(name)
	switch {
	case lower == "core" || lower == "v1" || lower == "core/v1" || name == "" || lower == "legacy" || lower == "api":
		s.note, s.meant, s.sure = "the core group is the empty text", "group == ''", true
	case never[lower] != "":
		s.note, s.sure = never[lower], true
	case split && x.groups[group] != nil:
		s.note, s.sure = "a version is no part of a group", true
		s.meant = fmt.Sprintf("group == %s && version == %s", quoted(group), quoted(version))
	case x.groups[lower] != nil:
		s.meant, s.sure = quoted(lower), true
	case len(x.named(name)) > 0:
		r := x.named(name)[0]
		s.note, s.sure = "that is a resource", true
		s.meant = fmt.Sprintf("resource == %s", quoted(r.Resource))
	default:
		return true
	}
	return false
}

func (x *index) suggestVersion(s *suggestion, name string) {
	group, version, split := strings.Cut(name, "/")
	lower := strings.ToLower(name)
	switch {
	case split && x.groups[group] != nil:
		s.note, s.sure = "a group is no part of a version", true
		s.meant = fmt.Sprintf("group == %s && version == %s", quoted(group), quoted(version))
	case x.versions[lower]:
		s.meant, s.sure = quoted(lower), true
	case x.versions["v"+lower]:
		s.meant, s.sure = quoted("v"+lower), true
	}
}

// suggestResource completes a suggestion for a resource or a kind. It returns true if only
// a comparison with all of them can do that.
func (x *index) suggestResource(s *suggestion, name string) (look bool) {
	value := func(r resources.Resource) string {
		if s.what == "kind" {
			return r.Kind
		}
		return r.Resource
	}
	if found := x.named(name); len(found) > 0 {
		s.meant, s.sure = oneOf(found, value), true
		if s.what == "resource" && x.kinds[name] != nil {
			s.meant += " or kind == " + quoted(name)
		}
		return false
	}
	// Forms: pods,services; group/version/resource, resource.group, resource/subresource, PodList.
	if several := strings.FieldsFunc(name, func(r rune) bool { return r == ',' || r == ' ' }); len(several) > 1 && len(x.named(several[0])) > 0 {
		s.note, s.sure = fmt.Sprintf("several names are a list: %s in ['…', '…']", s.what), true
		return false
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '.' })
	for _, part := range parts[:min(len(parts), maxParts)] {
		found := x.named(part)
		if len(found) == 0 || len(parts) < 2 {
			continue
		}
		if part == parts[0] && strings.Contains(name, "/") {
			s.note, s.meant, s.sure = "subresources are no objects", oneOf(found, value), true
			return false
		}
		r := found[0]
		for _, other := range found {
			if slices.Contains(parts, other.Group) || other.Group != "" && strings.Contains(name, other.Group) {
				r = other
			}
		}
		s.note, s.sure = "a group is no part of a "+s.what, true
		s.meant = fmt.Sprintf("group == %s && %s == %s", quoted(r.Group), s.what, quoted(value(r)))
		return false
	}
	if single, list := strings.CutSuffix(name, "List"); list && len(x.named(single)) > 0 {
		s.meant, s.sure = oneOf(x.named(single), value), true
		return false
	}
	if x.groups[name] != nil {
		s.note, s.meant, s.sure = "that is a group", "group == "+quoted(name), true
		return false
	}
	return true
}

// look completes a suggestion by a comparison with all served names.
func (x *index) look(s *suggestion, name string) {
	switch s.what {
	case "group":
		lower := strings.ToLower(name)
		first, _, _ := strings.Cut(lower, ".")
		var same []string
		for served := range x.groups {
			if start, _, _ := strings.Cut(served, "."); start == first && start != "" {
				same = append(same, served)
			}
		}
		if slices.Sort(same); len(same) > 0 {
			s.meant, s.sure = quoted(same[0]), !strings.Contains(name, ".") || strings.HasSuffix(name, ".k8s.io")
			return
		}
		s.near(lower, slices.Collect(maps.Keys(x.groups)))
	case "kind":
		s.near(name, slices.Collect(maps.Keys(x.kinds)))
	default:
		s.near(name, slices.Collect(maps.Keys(x.resources)))
	}
}

// named returns the resources with this plural, kind, singular or short name, in
// any case.
func (x *index) named(name string) []resources.Resource {
	lower := strings.ToLower(name)
	if long, ok := short[lower]; ok {
		lower = long
	}
	for _, found := range [][]resources.Resource{x.resources[lower], x.lower[lower], x.lower[strings.TrimSuffix(lower, "s")]} {
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// near suggests similar names. A name of at least five letters that differs in one
// letter is surely a mistake. With more differences it may be another name.
func (s *suggestion) near(name string, all []string) {
	found := Nearest(name, all, maxAlternatives)
	if len(found) == 0 {
		return
	}
	s.sure = len(name) >= 5 && distance(strings.ToLower(name), strings.ToLower(found[0])) == 1
	for i, f := range found {
		found[i] = quoted(f)
	}
	s.meant = strings.Join(found, " or ")
}

// short are kubectl's short names of Kubernetes' own resources.
var short = map[string]string{
	"cj": "cronjobs", "cm": "configmaps", "crd": "customresourcedefinitions", "csr": "certificatesigningrequests",
	"deploy": "deployments", "ds": "daemonsets", "ep": "endpoints", "ev": "events", "hpa": "horizontalpodautoscalers",
	"ing": "ingresses", "limits": "limitranges", "netpol": "networkpolicies", "no": "nodes", "ns": "namespaces",
	"pc": "priorityclasses", "pdb": "poddisruptionbudgets", "po": "pods", "pv": "persistentvolumes",
	"pvc": "persistentvolumeclaims", "quota": "resourcequotas", "rc": "replicationcontrollers", "rs": "replicasets",
	"sa": "serviceaccounts", "sc": "storageclasses", "sts": "statefulsets", "svc": "services",
}

// maxCompared is the maximum length of the names that Nearest compares, in bytes.
const maxCompared = 63

// Nearest returns at most a number of others that are similar to name, the most similar
// first. Names are similar if one begins with the other, or if at most a third of the
// letters or two letters differ.
func Nearest(name string, others []string, most int) []string {
	lower := strings.ToLower(name)
	distances := map[string]int{}
	for _, other := range others {
		candidate := strings.ToLower(other)
		if other == "" || name == "" || len(name) > maxCompared || len(other) > maxCompared {
			continue
		}
		d := distance(lower, candidate)
		if strings.HasPrefix(candidate, lower) || strings.HasPrefix(lower, candidate) {
			d = min(d, 2)
		}
		if d <= max(2, len(name)/3) && d < len(name) {
			distances[other] = d
		}
	}
	names := make([]string, 0, len(distances))
	for other := range distances {
		names = append(names, other)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	return names[:min(len(names), most)]
}

// distance returns the number of letters that must be changed, added, removed or swapped
// with their neighbour to turn a into b: the distance of Damerau and Levenshtein, without
// edits of swapped letters.
func distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
