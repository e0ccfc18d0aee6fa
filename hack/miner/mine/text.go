package mine

import (
	"slices"
	"strings"
)

// text claims what a text may name: an object that is there and is clearly meant, one
// that is not there and is clearly meant, or what may be.
func (m *miner) text(text string, at place) {
	key := at.keys[len(at.keys)-1]
	if at.schema.closed() || silent[key] || lastWord(key) == "key" {
		return
	}
	namespace, name := m.namespaceBeside(key, at.holder), text
	if before, after, ok := strings.Cut(text, "/"); ok && isName(before) {
		namespace, name = before, after
	}
	if !isName(name) {
		m.address(text, key, at)
		return
	}
	words, own := telling(key), true
	if len(words) == 0 && len(at.keys) > 1 {
		words, own = telling(at.keys[len(at.keys)-2]), false
	}
	about := at.schema.description()
	if !own && about == "" {
		about = at.above.description()
	}
	there := m.existing(name, namespace, words, about, own, at)
	if there != nil && there.Class == Sure {
		m.add(*there)
		return
	}
	if absent := m.absent(name, namespace, key, words, at); absent != nil && (there == nil || absent.Class > there.Class) {
		m.add(*absent)
		return
	}
	if there != nil && there.Class > Coincidence {
		m.add(*there)
		return
	}
	before := len(m.claims)
	if m.address(text, key, at); len(m.claims) == before && there != nil {
		m.add(*there)
	}
}

// namespaceBeside is that of what a key's value names: secretNamespace beside
// secretName, namespace beside name, or the object's own.
func (m *miner) namespaceBeside(key string, holder map[string]any) string {
	for _, ends := range [][2]string{{"Name", "Namespace"}, {"-name", "-namespace"}} {
		if start, ok := strings.CutSuffix(key, ends[0]); ok {
			if text, ok := holder[start+ends[1]].(string); ok && text != "" {
				return text
			}
		}
	}
	return m.namespace(holder)
}

func lastWord(key string) string {
	words := wordsOf(key)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// silent are keys that say what a thing is or where, not of which object it speaks.
var silent = map[string]bool{
	"namespace": true, "namespaces": true, "image": true, "type": true, "key": true, "keys": true, "command": true, "args": true, "version": true,
	"path": true, "protocol": true, "resources": true, "kind": true, "kinds": true, "apiVersion": true, "apiGroup": true, "group": true, "mountPath": true,
	"description": true, "nodeSelector": true, "labels": true, "matchLabels": true, "annotations": true, "topologyKey": true, "namespaceSelector": true,
}

// existing claims the objects of that name which are there.
func (m *miner) existing(name, namespace string, words []string, about string, own bool, at place) *Claim {
	var best []Target
	class, reason := Class(-1), ""
	for _, o := range m.world.byName[name] {
		d := m.world.Kinds.all[o.Kind]
		if o.Namespace != namespace && !d.cluster || o.Kind == (Kind{"", "Namespace"}) {
			continue // where an object is, it does not refer to
		}
		t := m.target(d, namespace, name)
		if m.isItself(t) || slices.Contains(best, t) {
			continue
		}
		c, why := m.judge(d, words, about, own, at)
		if c > class {
			best, class, reason = nil, c, why
		}
		if c == class {
			best = append(best, t)
		}
	}
	if best == nil {
		return nil
	}
	return &Claim{Path: at.path, Targets: best, Class: class, Reason: reason}
}

// judge tells how sure it is that a text which is the name of an object means it.
func (m *miner) judge(d *definition, words []string, about string, own bool, at place) (Class, string) {
	if !own && at.inListOfThings() {
		return Coincidence, "the name of a thing of its own"
	}
	near := sameDomain(d.kind.Group, m.of.Kind.Group)
	degree := says(words, d)
	named := m.world.Kinds.described(about, m.of.Kind.Group)
	described := mentions(about, d)
	switch {
	case degree == full && (near || d.builtin || described):
		return Sure, "the key says the kind"
	case named == d && d.kind != m.of.Kind:
		return Sure, "the description says of which kind the field has the name"
	case degree == part && near && d.kind != m.of.Kind:
		return Sure, "the key says a part of the kind, of the same domain"
	case degree == part && described:
		return Sure, "the key says a part of the kind, and the description all of it"
	case degree == full, degree == part && near:
		return Likely, "the key may say the kind"
	case described && d.kind != m.of.Kind && m.otherwise(words, d) == nil:
		return Likely, "the description speaks of the kind"
	case near && !d.builtin && strings.HasPrefix(lastWord(at.keys[len(at.keys)-1]), "ref") && m.otherwise(words, d) == nil:
		return Likely, "an object of the same domain, and the key says that it is a reference"
	}
	return Coincidence, "an object of that name"
}

// otherwise is the kind of Kubernetes that a key says which may mean another kind.
func (m *miner) otherwise(words []string, d *definition) *definition {
	for _, kind := range usual {
		if other := m.world.Kinds.all[kind]; other != d && says(words, other) == full {
			return other
		}
	}
	return nil
}

// inListOfThings tells whether a name is that of an element of a list that has much
// else.
func (at place) inListOfThings() bool {
	if !strings.HasSuffix(at.path, "[].name") {
		return false
	}
	others := 0
	for key := range at.holder {
		switch key {
		case "name", "namespace", "kind", "group", "apiVersion", "apiGroup", "port", "weight", "key", "optional", "priority", "servicePort", "scheme", "passHostHeader":
		default:
			others++
		}
	}
	return others > 0
}

func isReferring(key string) bool {
	switch lastWord(key) {
	case "name", "names", "ref", "refs", "reference", "references":
		return len(wordsOf(key)) > 1
	}
	return false
}

// absent claims an object that is not there: one that Kubernetes itself writes so, or
// of which the description says that the field has its name.
func (m *miner) absent(name, namespace, key string, words []string, at place) *Claim {
	claim := func(d *definition, class Class, reason string) *Claim {
		t := m.target(d, namespace, name)
		if m.isItself(t) || !d.cluster && namespace == "" || strings.Contains(name, ".") && d.kind == (Kind{"", "Service"}) {
			return nil
		}
		return &Claim{Path: at.path, Targets: []Target{t}, Class: class, Reason: reason}
	}
	about := at.schema.description()
	if about == "" && key == "name" {
		about = at.above.description()
	}
	if !at.inListOfThings() {
		if d := m.world.Kinds.described(about, m.of.Kind.Group); d != nil && d.kind != m.of.Kind && d.kind != (Kind{"", "Namespace"}) {
			return claim(d, Sure, "the description says of which kind the field has the name")
		}
	}
	referring := key
	if key == "name" && len(at.keys) > 1 {
		referring = at.keys[len(at.keys)-2]
	}
	if key == "name" && at.isSelector() {
		if sibling := at.above.memberOnly("key"); strings.Contains(strings.ToLower(sibling.description()), "secret") {
			return claim(m.world.Kinds.all[Kind{"", "Secret"}], Sure, "a key beside the name is described as a Secret's")
		}
	}
	if !isReferring(referring) && (key != "name" || !at.isLocal()) {
		return nil
	}
	for _, kind := range usual {
		if d := m.world.Kinds.all[kind]; d != nil && says(words, d) == full {
			return claim(d, Sure, "Kubernetes itself writes so")
		}
	}
	if d := m.world.Kinds.spoken(strings.Join(words, ""), m.of.Kind.Group); d != nil && d.kind.Group == m.of.Kind.Group && strings.HasPrefix(lastWord(referring), "ref") {
		return claim(d, Sure, "the key says a kind of the group, and that it is a reference")
	}
	return nil
}

// isLocal tells whether the object that holds the name has nothing but what
// Kubernetes' own references by name have, isSelector whether there is a key.
func (at place) isLocal() bool {
	for key := range at.holder {
		switch key {
		case "name", "key", "optional", "items", "defaultMode", "namespace":
		default:
			return false
		}
	}
	return true
}

func (at place) isSelector() bool { return at.isLocal() && at.holder["key"] != nil }

// usual are the kinds that keys such as secretName and configMapRef speak of.
var usual = []Kind{
	{"", "Secret"}, {"", "ConfigMap"}, {"", "ServiceAccount"}, {"", "PersistentVolumeClaim"}, {"storage.k8s.io", "StorageClass"},
	{"networking.k8s.io", "IngressClass"}, {"scheduling.k8s.io", "PriorityClass"}, {"node.k8s.io", "RuntimeClass"},
}

// sameDomain tells whether groups are of one publisher.
func sameDomain(a, b string) bool { return domain(a) == domain(b) }

func domain(group string) string {
	words := strings.Split(group, ".")
	n := 2
	if len(words) > 2 && (strings.HasSuffix(group, "k8s.io") || strings.HasSuffix(group, "github.io") || strings.HasSuffix(group, "github.com") || strings.HasSuffix(group, "google.com")) {
		n = 3
	}
	return strings.Join(words[max(0, len(words)-n):], ".")
}
