package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"graphview.dev/api/v1alpha1"
	"graphview.dev/controllers/validation"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs"
	"graphview.dev/graphview/refs/schema"
)

// TestWriteRuleOfHostileKind: whatever a schema calls its fields and an API server its
// kinds, the rule is one document, and has the paths that it was given.
func TestWriteRuleOfHostileKind(t *testing.T) {
	for name, key := range map[string]string{
		"Quote": `a"b`, "Backslash": `a\b`, "Apostrophe": "it's", "Document": "a\n---\nkind: Secret\n", "LineSeparator": "a\u2028  - b", "NextLine": "a\u0085b: c",
		"Comment": "a #b", "Colon": "a: b", "Comma": "a, b", "Alias": "*a", "Unicode": "größe", "Boolean": "on", "Number": "1.5", "Null": "null", "Plain": "caSecret",
	} {
		t.Run(name, func(t *testing.T) {
			path := "['" + key + "']"
			read := kindReferences{all: []refs.Explained{
				{Path: path, To: "core/Secret", Source: refs.BySchema, Type: graph.Transitive},
				{Path: "spec" + path, To: "core/" + key, Source: refs.BySchema, Selector: true},
				{Path: "spec.other", To: "core/" + key, Source: refs.ByTable},
				{Path: "spec.zone", To: key + "/" + key, Source: refs.ByConvention, Inferred: true},
			}}
			var out strings.Builder
			if err := writeRule(&out, key, graph.Kind{Group: key, Kind: key}, read); err != nil {
				t.Fatal(err)
			}
			if documents := strings.Count("\n"+out.String(), "\n---"); documents > 0 || strings.ContainsAny(out.String(), "\u0085\u2028\u2029") {
				t.Fatalf("a line is from the key:\n%s", out.String())
			}
			var rule v1alpha1.ReferenceRule
			if err := yaml.UnmarshalStrict([]byte(out.String()), &rule); err != nil {
				t.Fatalf("%v:\n%s", err, out.String())
			}
			if rule.Kind != "ReferenceRule" || rule.Spec.From.Kind != key || rule.Spec.From.Group != key || len(rule.Spec.References) != 1 {
				t.Fatalf("the rule is %+v", rule)
			}
			wantPath := path
			if refs.CheckPath(path) != nil {
				wantPath = "" // it is a comment
			}
			if got := rule.Spec.References[0].Path; got != wantPath {
				t.Errorf("path %q, want %q", got, wantPath)
			}
			uncommented := strings.NewReplacer("  # - path", "  - path", "  #   to", "    to").Replace(out.String())
			if err := yaml.UnmarshalStrict([]byte(uncommented), &rule); err != nil {
				t.Errorf("without the marks of comments: %v:\n%s", err, uncommented)
			}
		})
	}
}

func TestWriteRule(t *testing.T) {
	text := &schema.Schema{Type: "string"}
	reference := &schema.Schema{Type: "object", Properties: []schema.Property{{Key: "name", Schema: text}, {Key: "namespace", Schema: text}}}
	schema := &schema.Schema{Type: "object", Properties: []schema.Property{{Key: "spec", Schema: &schema.Schema{Type: "object", Properties: []schema.Property{
		{Key: "caSecret", Schema: text}, {Key: "parts", Schema: &schema.Schema{Type: "array", Items: reference}}, {Key: "zones", Schema: text},
	}}}}}
	kind := graph.Kind{Group: "example.com", Kind: "Widget"}
	for name, test := range map[string]struct {
		read kindReferences
		want string
	}{
		"SureAndUnsure": {
			kindReferences{schema: schema, all: []refs.Explained{
				{Path: "spec.caSecret", To: "core/Secret", Source: refs.BySchema, Type: graph.Transitive},
				{Path: "spec.other", To: "{apiVersion}/{kind}", Source: refs.ByConvention, Type: graph.Direct},
				{Path: "spec.parts[]", To: "example.com/Part", Source: refs.ByConvention, Type: graph.Direct},
				{Path: "spec.zones", To: "example.com/Zone", Source: refs.ByConvention, Inferred: true, Type: graph.Direct},
			}},
			`# What the objects of Widget.example.com refer to, as far as it can be read. Correct it, and add what is missing.
#
# These are known without a rule, and stay:
# - spec.other: {apiVersion}/{kind}, by convention
apiVersion: graphview.dev/v1alpha1
kind: ReferenceRule
metadata:
  name: widgets.example.com
spec:
  from: {group: example.com, kind: Widget}
  # Keep: of fields that are not named here, conventions say what they did before.
  # Replace: they say nothing of the kind any more.
  conventions: Keep
  # Declared, a reference is required: what it names and does not exist counts as missing.
  references:
  # by schema
  - path: spec.caSecret
    to: {kind: Secret}
    type: t
  # by convention
  - path: "spec.parts[].name"
    to: {group: example.com, kind: Part}
    namespacePath: "spec.parts[].namespace"
  # These are not sure, or did not fit.
  # by convention, only to what exists
  # - path: spec.zones
  #   to: {group: example.com, kind: Zone}
`,
		},
		"Nothing": {
			kindReferences{}, `# What the objects of Widget.example.com refer to, as far as it can be read. Correct it, and add what is missing.
apiVersion: graphview.dev/v1alpha1
kind: ReferenceRule
metadata:
  name: widgets.example.com
spec:
  from: {group: example.com, kind: Widget}
  # Keep: of fields that are not named here, conventions say what they did before.
  # Replace: they say nothing of the kind any more.
  conventions: Keep
  # Declared, a reference is required: what it names and does not exist counts as missing.
  references:
  # Nothing is sure: put a reference in the place of this one, which finds nothing.
  - expression: "[]"
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := writeRule(&out, "widgets", kind, test.read); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("manifest (-want +got):\n%s", diff)
			}
			var rule v1alpha1.ReferenceRule
			if err := yaml.UnmarshalStrict([]byte(out.String()), &rule); err != nil {
				t.Fatal(err)
			}
			if err := validation.ReferenceRule(t.Context(), nil, &rule); err != nil {
				t.Errorf("the rule is not valid: %v", err)
			}
			uncommented := strings.NewReplacer("  # - path", "  - path", "  #   to", "    to").Replace(out.String())
			if err := yaml.UnmarshalStrict([]byte(uncommented), &rule); err != nil {
				t.Errorf("without the marks of comments: %v", err)
			}
		})
	}
}
