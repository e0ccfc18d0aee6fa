package oracle

import (
	"strings"

	"k8s.io/apimachinery/pkg/selection"
)

// ingress adds the Secrets that an Ingress' annotations name, with or without a namespace.
func (c *collector) ingress() {
	for name, kind := range map[string]string{
		"auth-secret": "Secret", "auth-tls-secret": "Secret", "proxy-ssl-secret": "Secret", "secure-verify-ca-secret": "Secret",
		"auth-proxy-set-headers": "ConfigMap", "custom-headers": "ConfigMap", "fastcgi-params-configmap": "ConfigMap",
	} {
		key := "nginx.ingress.kubernetes.io/" + name
		namespace, name, qualified := strings.Cut(c.annotation(key), "/")
		if !qualified {
			namespace, name = "", namespace
		}
		c.usesIn(namespace, "r", "metadata.annotations['"+key+"']", core(kind), name)
	}
}

func (c *collector) networkPolicy() {
	c.selects("spec.podSelector", parseSelector(at(c.tree, "spec.podSelector")))
	for _, peers := range [][2]string{{"ingress", "from"}, {"egress", "to"}} {
		for _, rule := range items(c.tree, "spec."+peers[0]) {
			for _, peer := range items(rule, peers[1]) {
				c.peer("spec."+peers[0]+"[]."+peers[1]+"[]", peer)
			}
		}
	}
}

// address adds the Service of an IPAddress, if that is its parent.
func (c *collector) address() {
	parent := at(c.tree, "spec.parentRef")
	if text(parent, "group") == "" && text(parent, "resource") == "services" {
		c.object("r", "spec.parentRef", core("Service"), parent)
	}
}

// peer adds the targets of a peer of a NetworkPolicy: namespaces, and pods of all namespaces, of
// some, or of its own.
func (c *collector) peer(path string, peer any) {
	namespaces, pods := at(peer, "namespaceSelector"), parseSelector(at(peer, "podSelector"))
	// A selector of all namespaces refers to no single namespace.
	if selector := parseSelector(namespaces); selector != nil && !selector.Empty() {
		c.found = append(c.found, reference{arc: "r", field: path + ".namespaceSelector", to: core("Namespace"), selector: selector})
	}
	if pods == nil {
		return
	}
	to := reference{arc: "r", field: path + ".podSelector", to: core("Pod"), selector: pods}
	if namespaces == nil {
		to.namespace = c.namespace
		c.found = append(c.found, to)
		return
	}
	selector := parseSelector(namespaces)
	if selector == nil {
		return
	}
	requirements, _ := selector.Requirements()
	switch {
	case len(requirements) == 0:
		to.everywhere = true
		c.found = append(c.found, to)
	case len(requirements) == 1 && requirements[0].Key() == "kubernetes.io/metadata.name" &&
		(requirements[0].Operator() == selection.In || requirements[0].Operator() == selection.Equals):
		for _, namespace := range requirements[0].ValuesUnsorted() {
			to.namespace = namespace
			c.found = append(c.found, to)
		}
	default:
		to.everywhere, to.sites = true, selector
		c.found = append(c.found, to)
	}
}
