package offline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
)

// Finding is a field that is wrong, although it names no object that is missing.
type Finding struct {
	Object         *Object
	Field, Message string
	// Value is the wrong value in the field, to find its place.
	Value string
}

// Findings returns the wrong fields of the manifests, by object. Missing objects are not among them.
func (m *Manifests) Findings() []Finding {
	var all []Finding
	opaque, described := m.opaqueNamespaces(), m.described()
	for _, o := range m.sorted() {
		if o.Made() || o.partial {
			continue
		}
		if message := mismatch(o); message != "" {
			all = append(all, Finding{Object: o, Field: "spec.selector.matchLabels", Message: message})
		}
		for _, r := range m.references[o.Key] {
			if f, ok := m.unselected(o, r); ok && !opaque[o.Namespace] && described[o.Namespace] {
				all = append(all, f)
			}
		}
		all = append(all, m.entries(o)...)
	}
	return all
}

// unselected returns a finding if a selector of Pods or Services in the object's own namespace selects none.
func (m *Manifests) unselected(o *Object, r graph.Reference) (Finding, bool) {
	if r.Selector == nil || len(r.Selector.Requirements) == 0 || r.AllNamespaces || r.Namespace != o.Namespace || r.Optional || r.To != (graph.Kind(podKind)) && r.To != (graph.Kind(serviceKind)) {
		return Finding{}, false
	}
	var closest *Object
	var differs *graph.Requirement
	most := 0
	for _, candidate := range m.byPlace[Key{GroupKind: schema.GroupKind(r.To), Namespace: r.Namespace}] {
		labels := labelsOf(candidate)
		satisfied, wrong := 0, (*graph.Requirement)(nil)
		for i := range r.Selector.Requirements {
			one := graph.Selector{Requirements: r.Selector.Requirements[i : i+1]}
			if one.Matches(labels) {
				satisfied++
			} else {
				wrong = &r.Selector.Requirements[i]
			}
		}
		if wrong == nil {
			return Finding{}, false
		}
		if closest == nil || satisfied > most || satisfied == most && similar(labels[wrong.Key], wrong) && !similar(labelsOf(closest)[differs.Key], differs) {
			closest, differs, most = candidate, wrong, satisfied
		}
	}
	field, _ := graph.CutWord(r.Field)
	f := Finding{Object: o, Field: field, Message: fmt.Sprintf("selects no %s with %s", r.To.Kind, selectorText(r.Selector))}
	if differs == nil {
		return f, true
	}
	if len(differs.Values) > 0 {
		f.Value = differs.Values[0]
	}
	if value := labelsOf(closest)[differs.Key]; value != "" && (most > 0 || similar(value, differs)) {
		f.Message += fmt.Sprintf("; %s has %s=%s", closest.Key.Kind+"/"+closest.Name, differs.Key, value)
	}
	return f, true
}

func labelsOf(o *Object) map[string]string {
	of, _ := o.metadata()["labels"].(map[string]any)
	labels := make(map[string]string, len(of))
	for key := range of {
		labels[key] = text(of, key)
	}
	return refs.Mark(graph.Kind(o.GroupKind), o.Content, labels)
}

// similar reports whether a requirement may mean a value: both begin with the same letters.
func similar(value string, r *graph.Requirement) bool {
	return value != "" && slices.ContainsFunc(r.Values, func(wanted string) bool {
		n := min(len(value), len(wanted), 3)
		return value[:n] == wanted[:n]
	})
}

func selectorText(s *graph.Selector) string {
	var all []string
	for _, r := range s.Requirements {
		switch r.Op {
		case graph.In:
			all = append(all, r.Key+"="+strings.Join(r.Values, "|"))
		case graph.NotIn:
			all = append(all, r.Key+"!="+strings.Join(r.Values, "|"))
		case graph.Exists:
			all = append(all, r.Key)
		case graph.DoesNotExist:
			all = append(all, "!"+r.Key)
		}
	}
	return strings.Join(all, ",")
}

// mismatch returns an error text if the selector of a workload does not match its own pods.
func mismatch(o *Object) string {
	spec, _ := o.Content["spec"].(map[string]any)
	selector, _ := spec["selector"].(map[string]any)
	wanted, _ := selector["matchLabels"].(map[string]any)
	template, _ := spec["template"].(map[string]any)
	if o.Group != "apps" || template == nil {
		return ""
	}
	metadata, _ := template["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	for key := range wanted {
		if labels[key] != wanted[key] {
			return fmt.Sprintf("does not match the labels of its own template: %s is %v there, and %v here", key, orAbsent(labels[key]), wanted[key])
		}
	}
	return ""
}

func orAbsent(value any) any {
	if value == nil {
		return "absent"
	}
	return value
}

// passive are groups with objects for which no operator makes pods and further objects.
var passive = []string{
	"acme.cert-manager.io", "apiextensions.k8s.io", "autoscaling.k8s.io", "bitnami.com", "cert-manager.io", "cilium.io", "configuration.konghq.com",
	"crd.projectcalico.org", "external-secrets.io", "externaldns.k8s.io", "gateway.networking.k8s.io", "generators.external-secrets.io",
	"getambassador.io", "graphview.dev", "image.toolkit.fluxcd.io", "isindir.github.com", "k8s.nginx.org", "keda.sh", "kyverno.io", "metallb.io",
	"monitoring.coreos.com", "networking.gke.io", "networking.istio.io", "notification.toolkit.fluxcd.io", "onepassword.com", "policies.kyverno.io",
	"policy.linkerd.io", "projectcontour.io", "secrets-store.csi.x-k8s.io", "secrets.hashicorp.com", "security.istio.io", "snapshot.storage.k8s.io",
	"source.toolkit.fluxcd.io", "telemetry.istio.io", "traefik.containo.us", "traefik.io", "trust.cert-manager.io",
}

// operated reports whether an object is a custom resource for which an operator may make pods and other objects.
func (m *Manifests) operated(o *Object) bool {
	if _, builtin := builtinKinds()[o.GroupKind]; builtin || o.Made() {
		return false
	}
	return !slices.Contains(passive, o.Group) || o.Group == "monitoring.coreos.com" && slices.Contains([]string{"Prometheus", "Alertmanager", "ThanosRuler"}, o.Key.Kind)
}

// opaqueNamespaces returns the namespaces in which controllers may make pods that are not known.
func (m *Manifests) opaqueNamespaces() map[string]bool {
	all := maps.Clone(m.partial)
	for key, o := range m.Objects {
		if !m.operated(o) || m.Objects[Key{podKind, key.Namespace, key.Name + "-*"}] != nil {
			continue
		}
		all[key.Namespace] = true
		for _, p := range products(o) {
			all[p.namespace] = true
		}
	}
	return all
}
