package oracle

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// exampleDomain is the domain of the kinds that tests define. The oracle does not know
// whether the table lists other kinds.
const exampleDomain = "example.com"

// infer adds the references of a custom object by convention: a text refers to an object by the last key
// above it, and a map with a name by its own key. It tries every served kind. If a rule
// replaces conventions, or names the field, only the fields of the schema count.
func (c *collector) infer(o *object, served []resource) {
	own := o.kind
	if own.Group != exampleDomain && !strings.HasSuffix(own.Group, "."+exampleDomain) {
		return
	}
	guess := func(key, path, name, namespace string, said []schema.GroupKind, bare, alone bool) {
		if len(said) > 0 || !o.replaced && !o.named[path] {
			c.guess(own, served, key, path, name, namespace, said, bare, alone)
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
				guess(key, path, value, "", nil, true, true)
			}
		case []any:
			items, _ := at(of, "items").(map[string]any)
			for _, element := range value {
				walk(strings.TrimSuffix(key, "s"), path+"[]", element, items)
			}
		case map[string]any:
			if said := keySelected(of); path != "" && len(said) > 0 {
				guess(key, path+".name", text(value, "name"), text(value, "namespace"), said, false, false)
			} else if isPart := strings.HasSuffix(path, "[]") && (value["version"] != nil || value["replicas"] != nil); path != "" && !isPart {
				alone := len(value) == 1 || len(value) == 2 && value["namespace"] != nil
				guess(key, path, text(value, "name"), text(value, "namespace"), nil, false, alone)
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
	refKey     = regexp.MustCompile(`Ref(erence)?$`)
	capitals   = regexp.MustCompile(`[A-Z]`)
	separators = regexp.MustCompile(`[,= "'\n]+`)
	// literals are texts that are secret themselves.
	literals  = regexp.MustCompile(`(?i)(api|app|client|consumer|cookie|hmac|jwt|session|shared|webhook)Secret$`)
	podName   = regexp.MustCompile(`.-[0-9]+$`)
	instances = regexp.MustCompile(`(cr|instance|object|resource)$`)
	// others are keys of texts that are no names; relations are keys of a relation between two objects.
	others          = regexp.MustCompile(`(?i)(annotation|domain|format|group|image|interval|kind|label|mode|namespace|path|pattern|port|prefix|protocol|suffix|timeout|type|version)s?$`)
	relations       = regexp.MustCompile(`(?i)(destination|downstream|origin|owner|parent|source|target|upstream)$|^dependsOn$`)
	ofSecrets       = regexp.MustCompile(`(^|[a-z])(?i:auth|ca|cert|certificate|credentials?|keys?|keystore|kubeconfig|license|passphrase|password|tls|token|truststore)([A-Z]|$)`)
	ofConfiguration = regexp.MustCompile(`(^|[a-z])(?i:config|configuration|conf|properties|scripts?|settings)([A-Z]|$)`)
	// hostKey is a key of a text that may be the plain name of a Service.
	hostKey    = regexp.MustCompile(`(?i)(host|address|addr|endpoint|server)$`)
	addressKey = regexp.MustCompile(`(?i)(urls?|uris?|endpoints?|address|addresses|addr|hosts?|hostname|servers?)$`)
)

// mostNamesakes is the most kinds that a word may stand for.
const mostNamesakes = 6

// coreWords maps words in the tests' keys to Kubernetes' kinds.
var coreWords = map[string]schema.GroupKind{
	"secret": core("Secret"), "configmap": core("ConfigMap"), "service": core("Service"), "serviceaccount": core("ServiceAccount"),
	"storageclass": {Group: "storage.k8s.io", Kind: "StorageClass"},
}

func (c *collector) guess(own schema.GroupKind, served []resource, key, path, name, namespace string, said []schema.GroupKind, bare, alone bool) {
	if addressKey.MatchString(key) {
		c.calls("t", path, name, true)
		if hostKey.MatchString(key) && objectName.MatchString(name) && !strings.Contains(name, ".") {
			c.calls("t", path, "tcp://"+name, true)
		}
	}
	if !objectName.MatchString(name) {
		return
	}
	word := strings.ToLower(suffixes.ReplaceAllString(key, ""))
	if word == "" {
		return
	}
	hinted := (alone || refKey.MatchString(key)) && !(bare && others.MatchString(suffixes.ReplaceAllString(key, "")))
	found, sure, names := c.means(own, served, key, word, hinted)
	if names && bare && !refKey.MatchString(key) && len(found) == 1 && found[0] == own {
		return // the name of the object in another system
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
			continue // an object does not refer to itself
		}
		if sure {
			c.usesIn(namespace, "r", path, kind, name)
			continue
		}
		c.usesIn(namespace, "r", "inferred/"+path, kind, name)
		c.found[len(c.found)-1].inferred = true
	}
}

// means returns the kinds that a word of a key may stand for, whether they are certain, and
// whether the whole word is the name of a kind of the group, or its end.
func (c *collector) means(own schema.GroupKind, served []resource, key, word string, hinted bool) (found []schema.GroupKind, sure, names bool) {
	kinds := func(inGroup bool, fits func(string) bool) []schema.GroupKind {
		var fitting []schema.GroupKind
		for _, r := range served {
			kind := schema.GroupKind{Group: r.Group, Kind: r.kind}
			if (kind.Group == exampleDomain || strings.HasSuffix(kind.Group, "."+exampleDomain)) && (kind.Group == own.Group || !inGroup) && fits(kind.Kind) && !slices.Contains(fitting, kind) {
				fitting = append(fitting, kind)
			}
		}
		if len(fitting) > mostNamesakes {
			return nil
		}
		return fitting
	}
	is := func(word string) func(string) bool {
		return func(kind string) bool { return strings.EqualFold(kind, word) }
	}
	ends := func(word string) func(string) bool {
		return func(kind string) bool {
			initials := strings.ToLower(strings.Join(capitals.FindAllString(kind, -1), ""))
			return len(word) >= 4 && strings.HasSuffix(strings.ToLower(kind), word) && !is(word)(kind) || len(initials) > 1 && initials == word
		}
	}
	stem := suffixes.ReplaceAllString(key, "")
	tails := []string{}
	for i, letter := range stem {
		if i > 0 && unicode.IsUpper(letter) {
			tails = append(tails, strings.ToLower(stem[i:]))
		}
	}
	whole, end := kinds(true, is(word)), kinds(true, ends(word))
	known, isCore := coreWords[word]
	certain := strings.HasSuffix(word, "serviceaccount") || strings.HasSuffix(word, "storageclass") || len(tails) > 0 && tails[len(tails)-1] == "secret" && !literals.MatchString(stem)
	found = slices.Concat(whole, end)
	switch {
	case isCore && len(whole) == 0:
		return append(found, known), certain && len(found) == 0, false
	case len(found) > 0:
		distinct := refKey.MatchString(key) && len(word) >= 4 || stem != key && len(tails) > 0 && len(whole) == 1
		return found, distinct && len(found) == 1, true
	}
	for _, fits := range []func(string) bool{is(word), ends(word)} {
		if found = kinds(false, fits); len(found) > 0 {
			return found, false, false
		}
	}
	for _, tail := range tails {
		whole = kinds(true, is(tail))
		if known, ok := coreWords[tail]; ok && (len(whole) == 0 || len(tail) < 4) {
			return []schema.GroupKind{known}, certain, false
		}
		if found = slices.Concat(whole, kinds(true, ends(tail))); len(found) > 0 && len(tail) >= 4 {
			return found, false, false
		}
	}
	if found = kinds(true, is(instances.ReplaceAllString(word, ""))); len(found) > 0 || !hinted {
		return found, false, false
	}
	return hints(kinds, append([]string{word}, tails...), stem, refKey.MatchString(key)), false, false
}

// hints returns the kinds that a key without the name of a kind may stand for.
func hints(kinds func(bool, func(string) bool) []schema.GroupKind, tails []string, stem string, isRef bool) (found []schema.GroupKind) {
	for _, tail := range tails {
		contains := func(kind string) bool {
			spaced := strings.ToLower(capitals.ReplaceAllString(kind, " $0")) + " "
			return len(tail) >= 4 && strings.Contains(spaced, " "+tail+" ")
		}
		if found = kinds(true, contains); len(found) > 0 {
			break
		}
	}
	if isRef || relations.MatchString(stem) {
		found = kinds(true, func(string) bool { return true })
	}
	switch {
	case ofSecrets.MatchString(stem):
		found = append(found, core("Secret"))
	case isRef, ofConfiguration.MatchString(stem):
		found = append(found, core("Secret"), core("ConfigMap"))
	}
	return found
}

// calls adds the existing Services whose addresses may be in a text. An address that ends in .svc, and with
// dangles any address of a Service, also counts if the Service is missing.
func (c *collector) calls(arc, path, value string, dangles bool) {
	for _, one := range separators.Split(value, -1) {
		scheme := strings.Contains(one, "://")
		if !scheme {
			one = "tcp://" + one
		}
		parsed, err := url.Parse(one)
		if err != nil {
			continue
		}
		host := strings.TrimSuffix(parsed.Hostname(), ".")
		if !objectName.MatchString(host) || !scheme && parsed.Port() == "" && !strings.Contains(host, ".") {
			continue
		}
		labels := strings.Split(strings.TrimSuffix(host, ".cluster.local"), ".")
		n := len(labels)
		qualified := labels[n-1] == "svc" && n > 2
		add := func(namespace, name string, certain bool) {
			if certain && (dangles || qualified) {
				c.usesIn(namespace, arc, path, core("Service"), name)
				return
			}
			c.usesIn(namespace, arc, "inferred/"+path, core("Service"), name)
			c.found[len(c.found)-1].inferred = true
		}
		switch {
		case qualified:
			add(labels[n-2], labels[n-3], true)
		case n == 1:
			add("", labels[0], parsed.Port() != "" && labels[0] != "localhost")
		case n == 2:
			isInside := !podName.MatchString(labels[0]) && (labels[1] == "default" || strings.Contains(labels[1], "-") || strings.HasPrefix(labels[0], labels[1]))
			add(labels[1], labels[0], labels[1] == c.namespace || isInside && (scheme || parsed.Port() != ""))
			if podName.MatchString(labels[0]) {
				add("", labels[1], false)
			}
		case n == 3:
			add(labels[2], labels[1], false)
		}
	}
}
