package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// entries returns wrong references to a part of an object: keys of ConfigMaps and Secrets, and
// ports of Services and Pods. Objects that are made are not looked into.
func (m *Manifests) entries(o *Object) []Finding {
	e := &entrySearch{m: m, of: o}
	switch o.GroupKind {
	case serviceKind:
		e.targetPorts()
	case schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}:
		e.backends(o.Content, "")
	case schema.GroupKind{Group: "monitoring.coreos.com", Kind: "ServiceMonitor"}:
		e.monitored()
	}
	if pod, at := podSpec(o); pod != nil {
		e.keys(pod, at)
	}
	return e.found
}

type entrySearch struct {
	m     *Manifests
	of    *Object
	found []Finding
}

func (e *entrySearch) add(field, value, format string, args ...any) {
	f := Finding{Object: e.of, Field: field, Value: value, Message: fmt.Sprintf(format, args...)}
	if !slices.ContainsFunc(e.found, func(of Finding) bool { return of.Field == field && of.Message == f.Message }) {
		e.found = append(e.found, f)
	}
}

// podSpec returns the spec of the pods of a workload, and its path.
func podSpec(o *Object) (spec map[string]any, at string) {
	path := []string{"spec", "template", "spec"}
	switch o.Key.Kind {
	case "Pod":
		path = []string{"spec"}
	case "CronJob":
		path = []string{"spec", "jobTemplate", "spec", "template", "spec"}
	}
	spec = o.Content
	for _, member := range path {
		spec, _ = spec[member].(map[string]any)
	}
	return spec, strings.Join(path, ".")
}

// keys looks at the references of a pod to keys.
func (e *entrySearch) keys(value any, at string) {
	switch of := value.(type) {
	case []any:
		for _, element := range of {
			e.keys(element, at+"[]")
		}
	case map[string]any:
		for member, below := range of {
			switch inner, _ := below.(map[string]any); {
			case member == "configMapKeyRef" && inner != nil:
				e.key(configMapKind, text(inner, "name"), inner, at+"."+member)
			case member == "secretKeyRef" && inner != nil:
				e.key(secretKind, text(inner, "name"), inner, at+"."+member)
			case (member == "configMap" || member == "secret") && inner != nil:
				kind := map[string]schema.GroupKind{"configMap": configMapKind, "secret": secretKind}[member]
				for _, item := range list(inner["items"]) {
					item, _ := item.(map[string]any)
					item = copied(item)
					item["optional"] = inner["optional"]
					e.key(kind, cmp.Or(text(inner, "name"), text(inner, "secretName")), item, at+"."+member+".items[]")
				}
			default:
				e.keys(below, at+"."+member)
			}
		}
	}
}

// key finds a key that the object of a manifest does not have.
func (e *entrySearch) key(kind schema.GroupKind, name string, ref map[string]any, at string) {
	o, key := e.m.Objects[Key{kind, e.of.Namespace, name}], text(ref, "key")
	if o == nil || o.Made() || o.partial || key == "" || ref["optional"] == true {
		return
	}
	var has []string
	for _, member := range []string{"data", "binaryData", "stringData"} {
		of, _ := o.Content[member].(map[string]any)
		for name := range of {
			has = append(has, name)
		}
	}
	if _, encrypted := o.Content["sops"]; encrypted || slices.Contains(has, key) || len(has) == 0 && kind == secretKind {
		return
	}
	slices.Sort(has)
	e.add(at+".key", key, "%s/%s has no key %s%s", kind.Kind, name, key, hasText(has))
}

func hasText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	if len(names) > 5 {
		names = append(slices.Clone(names[:5]), "…")
	}
	return "; it has " + strings.Join(names, ", ")
}

// targetPorts finds the named ports of a Service that none of its pods has.
func (e *entrySearch) targetPorts() {
	spec, _ := e.of.Content["spec"].(map[string]any)
	selector, _ := spec["selector"].(map[string]any)
	if len(selector) == 0 {
		return
	}
	pods := e.selected(podKind, selector)
	for _, port := range list(spec["ports"]) {
		of, _ := port.(map[string]any)
		target, named := of["targetPort"].(string)
		if _, err := strconv.Atoi(target); !named || err == nil || len(pods) == 0 {
			continue
		}
		var has []string
		for _, pod := range pods {
			for _, field := range []string{"spec.containers[].ports[].name", "spec.initContainers[].ports[].name"} {
				has = append(has, values(pod.Content, pathSteps(field))...)
			}
		}
		if !slices.Contains(has, target) {
			slices.Sort(has)
			e.add("spec.ports[].targetPort", target, "no pod of it has a port named %s%s", target, hasText(slices.Compact(has)))
		}
	}
}

// selected returns the objects of a kind in the same namespace that have all labels.
func (e *entrySearch) selected(kind schema.GroupKind, labels map[string]any) []*Object {
	var all []*Object
	for _, o := range e.m.byPlace[Key{GroupKind: kind, Namespace: e.of.Namespace}] {
		if hasLabels(o, labels) {
			all = append(all, o)
		}
	}
	return all
}

// monitored finds the ports of a ServiceMonitor that none of its Services in the same namespace has.
func (e *entrySearch) monitored() {
	spec, _ := e.of.Content["spec"].(map[string]any)
	selector, _ := spec["selector"].(map[string]any)
	wanted, _ := selector["matchLabels"].(map[string]any)
	services := e.selected(serviceKind, wanted)
	if spec["namespaceSelector"] != nil || len(wanted) == 0 || len(services) == 0 {
		return
	}
	var has []string
	for _, service := range services {
		has = append(has, values(service.Content, pathSteps("spec.ports[].name"))...)
	}
	for _, endpoint := range list(spec["endpoints"]) {
		of, _ := endpoint.(map[string]any)
		if port := text(of, "port"); port != "" && !slices.Contains(has, port) {
			e.add("spec.endpoints[].port", port, "Service/%s has no port %s%s", services[0].Name, port, hasText(has))
		}
	}
}

func hasLabels(o *Object, wanted map[string]any) bool {
	labels, _ := o.metadata()["labels"].(map[string]any)
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// backends finds the ports of an Ingress that its Services do not have.
func (e *entrySearch) backends(value any, at string) {
	switch of := value.(type) {
	case []any:
		for _, element := range of {
			e.backends(element, at+"[]")
		}
	case map[string]any:
		for member, below := range of {
			path := strings.TrimPrefix(at+"."+member, ".")
			service, _ := below.(map[string]any)
			if port, ok := service["port"].(map[string]any); member == "service" && ok {
				e.backend(text(service, "name"), port, path+".port")
			} else {
				e.backends(below, path)
			}
		}
	}
}

func (e *entrySearch) backend(name string, port map[string]any, at string) {
	service := e.m.Objects[Key{serviceKind, e.of.Namespace, name}]
	if service == nil || service.Made() || service.partial {
		return
	}
	spec, _ := service.Content["spec"].(map[string]any)
	var has []string
	for _, p := range list(spec["ports"]) {
		of, _ := p.(map[string]any)
		number := fmt.Sprint(of["port"])
		if port["number"] != nil && number == fmt.Sprint(port["number"]) || port["name"] != nil && of["name"] == port["name"] {
			return
		}
		if named := text(of, "name"); named != "" {
			number = named + " (" + number + ")"
		}
		has = append(has, number)
	}
	if wanted := fmt.Sprint(cmp.Or(port["number"], port["name"])); text(spec, "type") != "ExternalName" && len(has) > 0 {
		field := map[bool]string{true: ".number", false: ".name"}[port["number"] != nil]
		e.add(at+field, wanted, "Service/%s has no port %s%s", name, wanted, hasText(has))
	}
}
