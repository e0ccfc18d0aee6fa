package refs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/jsontree"
)

// TestOptional: what an object does without is told from what it needs, read from
// no more of the object than the extractor asks for.
func TestOptional(t *testing.T) {
	tests := map[string]struct {
		kind   graph.Kind
		object string
		want   map[string]bool // by name
	}{
		"pod": {
			kind: graph.Kind{Kind: "Pod"},
			object: `{metadata: {namespace: a, labels: {kustomize.toolkit.fluxcd.io/name: flux, kustomize.toolkit.fluxcd.io/namespace: a}}, spec: {
				containers: [{env: [{valueFrom: {secretKeyRef: {name: s1, optional: true}}}, {valueFrom: {secretKeyRef: {name: s2, optional: false}}},
					{valueFrom: {configMapKeyRef: {name: c1}}}], envFrom: [{configMapRef: {name: c2, optional: true}}, {secretRef: {name: s3, optional: true}}]}],
				volumes: [{configMap: {name: c3, optional: true}}, {secret: {secretName: s4, optional: true}}, {secret: {secretName: s5}},
					{projected: {sources: [{secret: {name: s6, optional: true}}, {configMap: {name: c4}}]}}]},
				status: {nominatedNodeName: n1}}`,
			want: map[string]bool{
				"s1": true, "s2": false, "c1": false, "c2": true, "s3": true, "c3": true, "s4": true, "s5": false, "s6": true, "c4": false, "n1": true, "flux": true,
			},
		},
		"deployment": {
			kind:   graph.Kind{Group: "apps", Kind: "Deployment"},
			object: `{metadata: {namespace: a}, spec: {template: {spec: {volumes: [{configMap: {name: c3, optional: true}}], serviceAccountName: sa}}}}`,
			want:   map[string]bool{"c3": true, "sa": false},
		},
		"one name needed and not": {
			kind: graph.Kind{Kind: "Pod"},
			object: `{metadata: {namespace: a}, spec: {containers: [{envFrom: [{secretRef: {name: s, optional: true}}]},
				{envFrom: [{secretRef: {name: s}}]}]}}`,
			want: map[string]bool{"s": false},
		},
		"a certificate makes its Secret": {
			kind:   graph.Kind{Group: "cert-manager.io", Kind: "Certificate"},
			object: `{metadata: {namespace: a}, spec: {secretName: tls, issuerRef: {name: ca}}}`,
			want:   map[string]bool{"tls": true, "ca": false},
		},
		"a release": {
			kind:   graph.Kind{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"},
			object: `{metadata: {namespace: a}, spec: {valuesFrom: [{kind: ConfigMap, name: c1}, {kind: Secret, name: s1, optional: true}]}}`,
			want:   map[string]bool{"c1": false, "s1": true},
		},
		"a Kustomization of Flux": {
			kind:   graph.Kind{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"},
			object: `{metadata: {namespace: a}, spec: {postBuild: {substituteFrom: [{kind: ConfigMap, name: c1}, {kind: Secret, name: s1, optional: true}]}}}`,
			want:   map[string]bool{"c1": false, "s1": true},
		},
		"a guess": {
			kind:   graph.Kind{Group: "example.com", Kind: "Widget"},
			object: `{metadata: {namespace: a}, spec: {secretRef: {name: s}}}`,
			want:   map[string]bool{"s": true},
		},
		"an event": {
			kind:   graph.Kind{Kind: "Event"},
			object: `{metadata: {namespace: a}, involvedObject: {apiVersion: v1, kind: Pod, name: p, namespace: a}}`,
			want:   map[string]bool{"p": true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := yaml.YAMLToJSON([]byte(tt.object))
			if err != nil {
				t.Fatal(err)
			}
			part, err := jsontree.Part(text, Builtin().Shape(tt.kind))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, ref := range Builtin().Extract(tt.kind, part) {
				before, found := got[ref.Name]
				got[ref.Name] = ref.Optional && (!found || before)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("optional (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRequired: a missing target of a field that the schema requires is a problem.
func TestRequired(t *testing.T) {
	kind, object := decode(t, []byte(`{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: own}, spec: {license: {secretName: license}, tls: {secretName: tls}, secrets: [listed], gadgetRef: {name: gadget}, cacheRef: {name: cache}, sourceRef: {kind: Gadget, name: source}, tokenSecretRef: {name: token, key: k}, keySecretRef: {name: key, key: k, optional: true}, outputSecretRef: {name: output}, database: inferred, cache: {name: main, size: 1}, gadget: {name: part, size: 1}, tokens: {any: {name: mapped, key: k}}}}`))
	of := schemaOf(t, `
    license: {type: object, required: [secretName], properties: {secretName: {type: string}}}
    tls: {type: object, properties: {secretName: {type: string}}}
    secrets: {type: array, items: {type: string}}
    gadgetRef: {type: object, required: [name], properties: {name: {type: string}}}
    cacheRef: {type: object, properties: {name: {type: string}}}
    sourceRef: {type: object, required: [kind, name], properties: {kind: {type: string}, name: {type: string}}}
    tokenSecretRef: {type: object, properties: {name: {type: string}, key: {type: string}, optional: {type: boolean}}}
    keySecretRef: {type: object, properties: {name: {type: string}, key: {type: string}, optional: {type: boolean}}}
    outputSecretRef: {type: object, required: [name], properties: {name: {type: string}}}
    tokens: {type: object, additionalProperties: {type: object, required: [name], properties: {name: {type: string}, key: {type: string}}}}
    cache: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}
    gadget: {type: object, properties: {name: {type: string}, size: {type: integer}}}
    database: {type: string}`)
	served := servedBy("example.com/Widget", "example.com/Gadget", "example.com/Cache", "example.com/Database")
	told, err := served.Read(kind, of)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, ref := range Builtin().Serving(served).Reading(map[graph.Kind]*Reading{kind: told}).Extract(kind, object) {
		got[ref.Name] = ref.Optional
	}
	want := map[string]bool{
		"license": false, "tls": true, "listed": true, "gadget": false, "cache": true, "source": false, "token": false, "key": true, "output": true, "inferred": true, "main": false, "part": true, "mapped": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("optional (-want +got):\n%s", diff)
	}
}
