package refs

import (
	"iter"
	"strings"
)

// address is a Service as somebody calls it, in the caller's namespace if it names none.
type address struct{ service, namespace string }

// maxAddresses bounds the addresses in one text.
const maxAddresses = 8

// addresses yields the Services that a text may be the addresses of, by the forms that
// a cluster's DNS resolves: name:port, scheme://name, name.namespace,
// name.namespace.svc, and these behind the name of a Pod. Several are separated by
// commas or spaces, and one may be the value of an option. A name alone is no address: too much is spelled so.
func addresses(text string) iter.Seq[address] {
	return func(yield func(address) bool) {
		if len(text) > maxPatterned || !strings.ContainsAny(text, ":.") {
			return
		}
		left := maxAddresses
		for one := range strings.FieldsFuncSeq(text, isSeparator) {
			if !strings.ContainsAny(one, ":.") {
				continue // another word of a command
			}
			found := servicesAt(hostOf(one))
			if found == ([2]address{}) {
				continue
			}
			if left--; left < 0 {
				return
			}
			for _, a := range found {
				if a.service != "" && !yield(a) {
					return
				}
			}
		}
	}
}

// isSeparator tells what stands between addresses, and between an option and its value.
func isSeparator(c rune) bool {
	return c == ',' || c == '=' || c == ' ' || c == '"' || c == '\'' || c == '\n'
}

// hostOf is the host that a URL or an address calls; called tells that it has a scheme
// or a port.
func hostOf(text string) (host string, called bool) {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text, called = rest, true
	}
	if end := strings.IndexAny(text, "/?#"); end >= 0 {
		text = text[:end]
	}
	if _, rest, ok := strings.Cut(text, "@"); ok {
		text = rest
	}
	host, port, ok := strings.Cut(text, ":")
	if ok && !isPort(port) {
		return "", false
	}
	return host, called || ok
}

// isPublic tells the commonest ends of names on the internet, which nobody calls a
// namespace: most addresses in objects are such.
func isPublic(label string) bool {
	return label == "com" || label == "io" || label == "net" || label == "org"
}

func isPort(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != "" && len(text) <= 5
}

// servicesAt lists the Services that a host may be: at most two.
func servicesAt(host string, called bool) (found [2]address) {
	host = strings.TrimSuffix(host, ".")
	if !isObjectName(host) || host[len(host)-1] >= '0' && host[len(host)-1] <= '9' && strings.Count(host, ".") == 3 {
		return found
	}
	host = strings.TrimSuffix(host, ".cluster.local")
	inside, qualified := strings.CutSuffix(host, ".svc")
	labels := strings.Split(inside, ".")
	if !qualified && isPublic(labels[len(labels)-1]) {
		return found
	}
	switch n := len(labels); {
	case n > 3, !qualified && n == 1 && !called:
	case n == 1:
		found[0] = address{service: labels[0]}
	case qualified:
		found[0] = address{labels[n-2], labels[n-1]}
	case n == 2: // name.namespace, or pod.name of a StatefulSet's pod
		found[0] = address{labels[0], labels[1]}
		if dash := strings.LastIndexByte(labels[0], '-'); dash > 0 && isPort(labels[0][dash+1:]) {
			found[1] = address{service: labels[1]}
		}
	case called: // pod.name.namespace
		found[0] = address{labels[1], labels[2]}
	}
	return found
}
