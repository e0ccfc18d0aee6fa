package mine

import (
	"regexp"
	"strings"
)

// host finds the host and the port of a URL, or of what is like one.
var host = regexp.MustCompile(`^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@ ]*@)?([a-z0-9][a-z0-9.-]*)(:[0-9]+)?(?:[/?].*)?$`)

// address claims the Service whose address a text is.
func (m *miner) address(text, key string, at place) {
	found := host.FindStringSubmatch(text)
	if found == nil {
		return
	}
	name, rest, _ := strings.Cut(found[1], ".")
	namespace := m.of.Namespace
	class := Coincidence
	switch parts := strings.Split(rest, "."); {
	case rest == "":
		if found[2] == "" && !strings.Contains(text, "://") {
			return
		}
	case len(parts) == 1:
		namespace = parts[0]
	case parts[1] == "svc":
		namespace = parts[0]
	default:
		return
	}
	if !m.world.Exists(Kind{"", "Service"}, namespace, name) {
		return
	}
	words := wordsOf(key)
	switch words[len(words)-1] {
	case "url", "uri", "endpoint", "endpoints", "address", "addr", "addresses", "host", "server", "value", "urls", "servers":
		class = Sure
	}
	t := Target{Kind{"", "Service"}, namespace, name}
	if !m.isItself(t) {
		m.add(Claim{Path: at.path, Targets: []Target{t}, Class: class, Reason: "the address of a Service"})
	}
}

// marks claims what labels and annotations name, where the key says a kind and begins
// with the domain of its group.
func (m *miner) marks(in string, of any) {
	values, _ := of.(map[string]any)
	for key, value := range values {
		text, _ := value.(string)
		prefix, last, ok := strings.Cut(key, "/")
		if !ok || prefix == "app.kubernetes.io" || !isName(text) {
			continue
		}
		for _, o := range m.world.byName[text] {
			d := m.world.Kinds.all[o.Kind]
			if d.builtin && domain(prefix) != "k8s.io" && domain(prefix) != "kubernetes.io" || o.Namespace != m.of.Namespace && !d.cluster {
				continue
			}
			t := m.target(d, o.Namespace, text)
			if m.isItself(t) || says(telling(last), d) == none || !d.builtin && !strings.HasSuffix(d.kind.Group, prefix) && !strings.HasSuffix(prefix, d.kind.Group) {
				continue
			}
			m.add(Claim{Path: "metadata." + in + "['" + key + "']", Targets: []Target{t}, Class: Sure, Reason: "a mark of the kind's group says the kind"})
			break
		}
	}
}
