package impact

import (
	"fmt"
	"strings"
	"testing"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/api/v1alpha1"
)

// groups are those of the resources of the tests.
var groups = map[string]string{
	"deployments": "apps", "replicasets": "apps", "statefulsets": "apps", "jobs": "batch", "cronjobs": "batch",
	"ingresses": "networking.k8s.io", "ingressclasses": "networking.k8s.io", "ipaddresses": "networking.k8s.io", "networkpolicies": "networking.k8s.io",
	"endpointslices": "discovery.k8s.io", "poddisruptionbudgets": "policy", "storageclasses": "storage.k8s.io",
	"roles": "rbac.authorization.k8s.io", "rolebindings": "rbac.authorization.k8s.io", "clusterroles": "rbac.authorization.k8s.io",
	"customresourcedefinitions": "apiextensions.k8s.io", "widgets": "example.com",
	"validatingwebhookconfigurations": "admissionregistration.k8s.io", "horizontalpodautoscalers": "autoscaling",
	"kustomizations": "kustomize.toolkit.fluxcd.io", "helmreleases": "helm.toolkit.fluxcd.io", "applications": "argoproj.io", "certificates": "cert-manager.io",
	"gateways": "gateway.networking.k8s.io", "httproutes": "gateway.networking.k8s.io", "gatewayclasses": "gateway.networking.k8s.io", "referencegrants": "gateway.networking.k8s.io",
	"clusterserviceversions": "operators.coreos.com",
}

// clusterScoped resources have no namespace.
const clusterScoped = " namespaces nodes persistentvolumes storageclasses ingressclasses gatewayclasses clusterroles customresourcedefinitions validatingwebhookconfigurations "

// key reads resource/name or resource/namespace/name.
func key(text string) streamv1alpha1.Key {
	parts := strings.Split(text, "/")
	k := streamv1alpha1.Key{Group: groups[parts[0]], Version: "v1", Resource: parts[0], Name: parts[len(parts)-1]}
	switch {
	case len(parts) == 3:
		k.Namespace = parts[1]
	case !strings.Contains(clusterScoped, " "+parts[0]+" "):
		k.Namespace = "shop"
	}
	return k
}

func name(k streamv1alpha1.Key) string {
	if k.Namespace == "" || k.Namespace == "shop" {
		return k.Resource + "/" + k.Name
	}
	return k.Resource + "/" + k.Namespace + "/" + k.Name
}

// parse reads a graph: lines "FROM: WORD FIELD TO" are arcs, with words of the protocol in which
// "_" is a space; "owned" and "controlled" are owner references, and a WORD that ends in "?" is
// optional. Other lines are "OBJECT FACT…".
func parse(t *testing.T, text string) *Graph {
	t.Helper()
	g := &Graph{}
	see := func(k streamv1alpha1.Key) {
		if _, ok := g.objects[k]; !ok {
			g.Set(k, Object{Kind: k.Resource})
		}
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		from := key(strings.TrimSuffix(words[0], ":"))
		see(from)
		if !strings.HasSuffix(words[0], ":") {
			o := g.objects[from]
			for _, fact := range words[1:] {
				switch fact {
				case "prunes":
					o.Facts.Prunes = true
				case "kept":
					o.Facts.Kept = true
				case "ended":
					o.Facts.Ended = true
				case "suspended":
					o.Facts.Suspended = true
				case "allows-routes-of-front":
					o.Facts.Grants = append(o.Facts.Grants, streamv1alpha1.Grant{FromGroup: "gateway.networking.k8s.io", FromKind: "httproutes", Namespace: "front", ToKind: "services"})
				case "unscheduled":
					o.Facts.Unscheduled = true
				default:
					o.Facts.Finalizers = append(o.Facts.Finalizers, fact)
				}
			}
			g.Set(from, o)
			continue
		}
		to := key(words[len(words)-1])
		arc := streamv1alpha1.Arc{From: from, To: to, Type: v1alpha1.ArcTypeReference}
		a := &arc.Attributes
		switch words[1] {
		case "owned", "controlled", "owned-outside":
			arc.Type, a.Controller, a.BlockOwnerDeletion = v1alpha1.ArcTypeOwnerReference, words[1] == "controlled", true
			if words[1] == "owned-outside" {
				a.Missing, a.Outside = true, "outside"
			}
		default:
			word, optional := strings.CutSuffix(words[1], "?")
			a.Words, a.Optional = []string{strings.ReplaceAll(word, "_", " ")}, optional
			if len(words) == 4 {
				a.Fields = []string{words[2]}
			}
		}
		if !a.Missing {
			see(to)
		}
		g.SetArc(&arc)
	}
	return g
}

// said are the groups of an answer as text, the unaffected ones left out.
func said(a *streamv1alpha1.GraphImpact) string {
	var b strings.Builder
	for _, g := range a.Groups {
		if g.Verdict == Unaffected.Words() {
			continue
		}
		var names []string
		for _, k := range g.Objects {
			names = append(names, name(k))
		}
		fmt.Fprintf(&b, "%s: %s", g.Verdict, strings.Join(names, " "))
		for _, h := range g.Holds {
			fmt.Fprintf(&b, " [held %s", h.Finalizer)
			for _, k := range h.By {
				fmt.Fprintf(&b, " by %s", name(k))
			}
			b.WriteString("]")
		}
		if g.Again != nil {
			fmt.Fprintf(&b, " [again by %s]", name(*g.Again))
		}
		b.WriteString("\n")
	}
	return b.String()
}
