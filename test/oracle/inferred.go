package oracle

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// exampleDomain is the domain of the kinds that tests define: of others, the oracle
// does not know whether somebody has listed what they refer to.
const exampleDomain = "example.com"

// infer adds what a custom object may refer to, if that exists: a text by the last key
// above it, an object with a name by its own. It tries every served kind. Where a rule
// replaces conventions, or names the field, only the fields of the schema count.
func (c *collector) infer(o *object, served []resource) {
	own := o.kind
	if own.Group != exampleDomain && !strings.HasSuffix(own.Group, "."+exampleDomain) {
		return
	}
	guess := func(key, path, name, namespace string, said []schema.GroupKind) {
		if len(said) > 0 || !o.replaced && !o.named[path] {
			c.guess(own, served, key, path, name, namespace, said)
		}
	}
	var walk func(key, path string, value any, of map[string]any)
	walk = func(key, path string, value any, of map[string]any) {
		if key == "metadata" {
			return
		}
		switch value := value.(type) {
		case string:
			if !isClosed(of) {
				guess(key, path, value, "", nil)
			}
		case []any:
			items, _ := at(of, "items").(map[string]any)
			for _, element := range value {
				walk(strings.TrimSuffix(key, "s"), path+"[]", element, items)
			}
		case map[string]any:
			if said := keySelected(of); path != "" && len(said) > 0 {
				guess(key, path+".name", text(value, "name"), text(value, "namespace"), said)
			} else if path != "" {
				guess(key, path, text(value, "name"), text(value, "namespace"), nil)
			}
			for below, element := range value {
				next, _ := at(of, "properties."+below).(map[string]any)
				walk(below, strings.TrimPrefix(path+"."+below, "."), element, next)
			}
		}
	}
	for key, value := range c.tree {
		if key != "apiVersion" && key != "kind" {
			next, _ := at(o.schema, "properties."+key).(map[string]any)
			walk(key, key, value, next)
		}
	}
}

var (
	objectName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	suffixes   = regexp.MustCompile(`(Ref|Reference|Name)$`)
	addressKey = regexp.MustCompile(`(?i)(url|uri|endpoint|address|addr|host|hostname|server)$`)
)

// mostNamesakes is how many kinds a word may stand for.
const mostNamesakes = 3

// coreWords are the kinds of Kubernetes that the tests' keys speak of.
var coreWords = map[string]schema.GroupKind{
	"secret": core("Secret"), "configmap": core("ConfigMap"), "service": core("Service"), "serviceaccount": core("ServiceAccount"),
	"storageclass": {Group: "storage.k8s.io", Kind: "StorageClass"},
}

func (c *collector) guess(own schema.GroupKind, served []resource, key, path, name, namespace string, said []schema.GroupKind) {
	if addressKey.MatchString(key) {
		c.calls("t", path, name)
	}
	if !objectName.MatchString(name) {
		return
	}
	word := strings.ToLower(suffixes.ReplaceAllString(key, ""))
	if word == "" {
		return
	}
	// Own group before Kubernetes, and that before other groups of the domain; a whole
	// name before the end of one.
	rank := func(kind schema.GroupKind) int {
		whole := strings.EqualFold(kind.Kind, word)
		switch ends := len(word) >= 4 && strings.HasSuffix(strings.ToLower(kind.Kind), word); {
		case whole && kind.Group == own.Group:
			return 4
		case ends && kind.Group == own.Group:
			return 3
		case whole:
			return 2
		case ends:
			return 1
		}
		return 0
	}
	best, found := 0, []schema.GroupKind{}
	for _, r := range served {
		kind := schema.GroupKind{Group: r.Group, Kind: r.kind}
		if kind.Group != exampleDomain && !strings.HasSuffix(kind.Group, "."+exampleDomain) {
			continue
		}
		if n := rank(kind); n > best {
			best, found = n, nil
		}
		if n := rank(kind); n > 0 && n == best && !slices.Contains(found, kind) {
			found = append(found, kind)
		}
	}
	if known, ok := coreWords[word]; ok && best < 3 {
		found = []schema.GroupKind{known}
	}
	// What the key ends in, if it is no word of its own: caSecret.
	for tail := suffixes.ReplaceAllString(key, ""); best == 0 && len(found) == 0; {
		next := strings.IndexFunc(tail[min(1, len(tail)):], unicode.IsUpper)
		if next < 0 {
			break
		}
		tail = tail[next+1:]
		if known, ok := coreWords[strings.ToLower(tail)]; ok {
			found = append(found, known)
		}
	}
	for _, kind := range said {
		if !slices.Contains(found, kind) {
			found = append(found, kind)
		}
	}
	if len(found) > mostNamesakes {
		return
	}
	for _, kind := range found {
		if kind == own && name == text(c.tree, "metadata.name") && (namespace == "" || namespace == c.namespace) {
			continue // nothing refers to itself
		}
		c.usesIn(namespace, "r", "inferred/"+path, kind, name)
		c.found[len(c.found)-1].inferred = true
	}
}

// calls adds the Services that a text may be the addresses of, if they exist.
func (c *collector) calls(arc, path, value string) {
	for one := range strings.SplitSeq(value, ",") {
		one = strings.TrimSpace(one)
		scheme := strings.Contains(one, "://")
		if !scheme {
			one = "tcp://" + one
		}
		parsed, err := url.Parse(one)
		if err != nil || !objectName.MatchString(parsed.Hostname()) || !scheme && parsed.Port() == "" && !strings.Contains(parsed.Hostname(), ".") {
			continue
		}
		labels := strings.Split(strings.TrimSuffix(parsed.Hostname(), ".cluster.local"), ".")
		add := func(namespace, name string) {
			c.usesIn(namespace, arc, "inferred/"+path, core("Service"), name)
			c.found[len(c.found)-1].inferred = true
		}
		n := len(labels)
		switch {
		case labels[n-1] == "svc" && n > 2:
			add(labels[n-2], labels[n-3])
		case n == 1:
			add("", labels[0])
		case n == 2:
			add(labels[1], labels[0])
			add("", labels[1])
		case n == 3:
			add(labels[2], labels[1])
		}
	}
}
