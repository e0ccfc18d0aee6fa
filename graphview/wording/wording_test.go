package wording

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	var (
		pods, deployments = Resource{"", "pods"}, Resource{"apps", "deployments"}
		secrets, maps     = Resource{"", "secrets"}, Resource{"", "configmaps"}
	)
	tests := map[string]struct {
		from  Resource
		field string
		to    Resource
		want  string
	}{
		"a volume":               {pods, "spec.volumes[].configMap.name", maps, "mounts"},
		"of a template":          {deployments, "spec.template.spec.volumes[].projected.sources[].secret.name", secrets, "mounts"},
		"a variable":             {pods, "spec.containers[].env[].valueFrom.secretKeyRef.name", secrets, "reads env of"},
		"variables":              {deployments, "spec.template.spec.initContainers[].envFrom[].configMapRef.name", maps, "reads env of"},
		"an account":             {pods, "spec.serviceAccountName", Resource{"", "serviceaccounts"}, "runs as"},
		"a node":                 {pods, "spec.nodeName", Resource{"", "nodes"}, "runs on"},
		"a pull secret":          {pods, "spec.imagePullSecrets[].name", secrets, "pulls images with"},
		"a service's pods":       {Resource{"", "services"}, "spec.selector", pods, "selects"},
		"an ingress's services":  {Resource{"networking.k8s.io", "ingresses"}, "spec.rules[].http.paths[].backend.service.name", Resource{"", "services"}, "routes to"},
		"an ingress's class":     {Resource{"networking.k8s.io", "ingresses"}, "spec.ingressClassName", Resource{"networking.k8s.io", "ingressclasses"}, "is of class"},
		"a route's services":     {Resource{"gateway.networking.k8s.io", "httproutes"}, "spec.rules[].backendRefs[].name", Resource{"", "services"}, "routes to"},
		"a route's gateway":      {Resource{"gateway.networking.k8s.io", "httproutes"}, "spec.parentRefs[].name", Resource{"gateway.networking.k8s.io", "gateways"}, "attaches to"},
		"what is scaled":         {Resource{"autoscaling", "horizontalpodautoscalers"}, "spec.scaleTargetRef", deployments, "scales"},
		"what is protected":      {Resource{"policy", "poddisruptionbudgets"}, "spec.selector", pods, "protects"},
		"who is bound":           {Resource{"rbac.authorization.k8s.io", "rolebindings"}, "subjects[]", Resource{"", "serviceaccounts"}, "binds"},
		"what is granted":        {Resource{"rbac.authorization.k8s.io", "rolebindings"}, "roleRef", Resource{"rbac.authorization.k8s.io", "roles"}, "grants"},
		"a release":              {secrets, "data.release", deployments, "installs"},
		"a certificate":          {Resource{"cert-manager.io", "certificates"}, "spec.secretName", secrets, "issues"},
		"its issuer":             {Resource{"cert-manager.io", "certificates"}, "spec.issuerRef", Resource{"cert-manager.io", "issuers"}, "is issued by"},
		"a kind of somebody's":   {Resource{"example.com", "widgets"}, "spec.authSecretRef.name", secrets, "reads"},
		"an address":             {pods, "inferred/spec.containers[].env[].value", Resource{"", "services"}, "calls"},
		"another address":        {Resource{"example.com", "widgets"}, "inferred/spec.backendUrl", Resource{"", "services"}, "calls"},
		"a service by name":      {Resource{"example.com", "widgets"}, "spec.serviceRef.name", Resource{"", "services"}, "routes to"},
		"a volume's driver":      {pods, "spec.volumes[].csi.driver", Resource{"storage.k8s.io", "csidrivers"}, "is driven by"},
		"a volume's credential":  {pods, "spec.volumes[].rbd.secretRef.name", secrets, "reads"},
		"a role of its own":      {Resource{"example.com", "grants"}, "spec.roleRef", Resource{"example.com", "roles"}, "uses"},
		"a product":              {Resource{"example.com", "buckets"}, "spec.writeConnectionSecretToRef.name", secrets, "issues"},
		"a claim that is copied": {Resource{"example.com", "volumes"}, "spec.source.pvc.name", Resource{"", "persistentvolumeclaims"}, "is filled from"},
		"a class of a claim":     {Resource{"apps", "statefulsets"}, "spec.volumeClaimTemplates[].spec.storageClassName", Resource{"storage.k8s.io", "storageclasses"}, "is of class"},
		"a claim of pods":        {Resource{"apps", "statefulsets"}, "spec.volumeClaimTemplates[].metadata.name", Resource{"", "persistentvolumeclaims"}, "claims"},
		"a policy":               {Resource{"example.com", "policies"}, "spec.targetRefs[]", Resource{"gateway.networking.k8s.io", "httproutes"}, "applies to"},
		"a pod's sources of env": {deployments, "spec.template.spec.containers[].envFrom[].secretRef.name", secrets, "reads env of"},
		"nothing known":          {Resource{"example.com", "widgets"}, "spec.gadgetRef.name", Resource{"example.com", "gadgets"}, "uses"},
		"a ReferenceRule":        {Resource{"example.com", "widgets"}, "referencerule/widgets", Resource{"example.com", "gadgets"}, "uses"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Of(tt.from, tt.field, tt.to); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestEveryWordReadsBothWays: no rule has a word that cannot be said the other way.
func TestEveryWordReadsBothWays(t *testing.T) {
	all := slices.Collect(maps.Keys(reversed))
	check := func(word string) {
		if !slices.Contains(all, word) {
			t.Errorf("%q cannot be said the other way", word)
		}
	}
	for _, rules := range bySource {
		for _, r := range rules {
			check(r.word)
		}
	}
	for _, rules := range byTarget {
		for _, r := range rules {
			check(r.word)
		}
	}
	for _, r := range byField {
		check(r.word)
	}
	for _, word := range targets {
		check(word)
	}
}

var update = flag.Bool("update", false, "write the table of docs/measured/words.md")

// TestWordsAreDocumented holds the table of docs/measured/words.md, or writes it.
func TestWordsAreDocumented(t *testing.T) {
	var table strings.Builder
	table.WriteString("| word | the other way | of | fields with |\n|---|---|---|---|\n")
	var rows []string
	row := func(word, of, part string) {
		if part != "" {
			part = "`" + part + "`"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", word, Reversed(word), of, part))
	}
	row(Owner, "every owner reference", "")
	for from, rules := range bySource {
		for _, r := range rules {
			row(r.word, strings.TrimSuffix(from.Resource+"."+from.Group, "."), r.part)
		}
	}
	for to, rules := range byTarget {
		for _, r := range rules {
			row(r.word, "any other, to "+strings.TrimSuffix(to.Resource+"."+to.Group, "."), r.part)
		}
	}
	for _, r := range byField {
		row(r.word, "any other", r.part)
	}
	for to, word := range targets {
		row(word, "any other, to "+strings.TrimSuffix(to.Resource+"."+to.Group, "."), "")
	}
	row("is of class", "any other, to …classes", "")
	row("uses", "any other", "")
	slices.Sort(rows)
	table.WriteString(strings.Join(rows, ""))
	page := filepath.Join("..", "..", "docs", "measured", "words.md")
	before, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- words -->\n", "<!-- end -->\n"
	head, rest, ok := strings.Cut(string(before), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the words", page)
	}
	after := head + begin + table.String() + end + tail
	if *update {
		if err := os.WriteFile(page, []byte(after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if after != string(before) {
		t.Errorf("the words of %s are not up to date: go test ./graphview/wording -update", page)
	}
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		Of(Resource{"apps", "deployments"}, "spec.template.spec.containers[].envFrom[].configMapRef.name", Resource{"", "configmaps"})
	}
}
