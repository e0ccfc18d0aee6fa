package refs

import (
	"iter"
	"strings"
)

// address is a Service that a text names. An empty namespace means that of the object. certain means
// that the text is hardly anything else, qualified that it ends in .svc.
type address struct {
	service, namespace string
	certain, qualified bool
}

// maxAddresses bounds the addresses in one text.
const maxAddresses = 8

// addresses yields the Services that the addresses in a text may name, in the forms that cluster DNS
// resolves: name:port, scheme://name, name.namespace, name.namespace.svc, and these after the name of a
// Pod and a dot. Addresses are separated by commas or spaces, and may be the value of a command-line
// option. A name alone is not an address: too many other words look like one.
func addresses(text string) iter.Seq[address] {
	return func(yield func(address) bool) {
		if len(text) > maxPatterned || !isDotted(text) {
			return
		}
		left := maxAddresses
		for one := range strings.FieldsFuncSeq(text, isSeparator) {
			if !isDotted(one) {
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

// isDotted reports whether a text has a colon or a dot, as every address but a bare name has.
func isDotted(text string) bool {
	return strings.IndexByte(text, '.') >= 0 || strings.IndexByte(text, ':') >= 0
}

// isSeparator reports whether a character separates addresses, or an option and its value.
func isSeparator(c rune) bool {
	return c == ',' || c == '=' || c == ' ' || c == '"' || c == '\'' || c == '\n'
}

// hostOf returns the host of a URL or an address. called reports whether the text has a scheme or a
// port, ported whether it has a port.
func hostOf(text string) (host string, called, ported bool) {
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
		return "", false, false
	}
	return host, called || ok, ok
}

// localhost is the only name without dots that, with a port, need not be a Service.
const localhost = "localhost"

// isPublic holds the most common top-level domains. A host that ends in one of them is not a Service: no
// namespace has such a name. Most addresses in objects end in one.
var isPublic = set("com", "io", "net", "org")

// isInside reports whether service.namespace is in the cluster, and not a public domain: the namespace
// has a dash, or the Service is named after it.
func isInside(service, namespace string) bool {
	return namespace == "default" || strings.Contains(namespace, "-") || strings.HasPrefix(service, namespace)
}

func isPort(text string) bool { return len(text) <= 5 && isDigits(text) }

func isDigits(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool { return c < '0' || c > '9' })
}

// servicesAt returns the Services that a host may name, at most two.
func servicesAt(host string, called, ported bool) (found [2]address) {
	host = strings.TrimSuffix(host, ".")
	if !isObjectName(host) || host[len(host)-1] >= '0' && host[len(host)-1] <= '9' && strings.Count(host, ".") == 3 {
		return found
	}
	host = strings.TrimSuffix(host, ".cluster.local")
	inside, qualified := strings.CutSuffix(host, ".svc")
	labels := strings.Split(inside, ".")
	if !qualified && isPublic[labels[len(labels)-1]] {
		return found
	}
	switch n := len(labels); {
	case n > 3, !qualified && n == 1 && !called:
	case n == 1:
		found[0] = address{service: labels[0], certain: ported && labels[0] != localhost}
	case qualified:
		found[0] = address{labels[n-2], labels[n-1], true, true}
	case n == 2: // name.namespace, or pod.name of a StatefulSet's pod
		found[0] = address{service: labels[0], namespace: labels[1]}
		if dash := strings.LastIndexByte(labels[0], '-'); dash > 0 && isPort(labels[0][dash+1:]) {
			found[1] = address{service: labels[1]}
		} else {
			found[0].certain = called && isInside(labels[0], labels[1])
		}
	case called: // pod.name.namespace
		found[0] = address{service: labels[1], namespace: labels[2]}
	}
	return found
}
