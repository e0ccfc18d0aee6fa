package protocol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestLoad: members are in the order of the source, with those of embedded structs, and refer to structs.
func TestLoad(t *testing.T) {
	types, err := load("../../../" + strings.TrimPrefix(packagePath, "./"))
	if err != nil {
		t.Fatal(err)
	}
	members := map[string][]string{}
	for _, of := range types {
		for i := range of.members {
			m := &of.members[i]
			line := m.name + ": " + typeScriptOf(&m.schema)
			if m.required {
				line += ", required"
			}
			members[of.schemaName()] = append(members[of.schemaName()], line)
		}
	}
	want := map[string][]string{
		"dev.graphview.stream.v1alpha1.Unsubscribe": {"channel: number, required"},
		"dev.graphview.stream.v1alpha1.GraphObject": {
			"apiVersion: string", "kind: string", "metadata: Metadata", "vx: Key, required", "c: string", "o: Record<string, unknown>", "j: unknown[]",
			"f: Record<string, unknown>", "m: Summary", "out: Arc[], required", "in: Arc[], required", "more: boolean",
		},
	}
	for name, lines := range want {
		if diff := cmp.Diff(lines, members[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if members["io.k8s.apimachinery.pkg.apis.meta.v1.Status"] == nil || members["dev.graphview.stream.v1alpha1.Head"] != nil {
		t.Errorf("Status is missing, or Head is not only a part: %v", members)
	}
}

func TestTypeScript(t *testing.T) {
	of := func(typ string) apiextensionsv1.JSONSchemaProps { return apiextensionsv1.JSONSchemaProps{Type: typ} }
	list := func(s apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &s}}
	}
	key, status := ownPath+"api/stream/v1alpha1.Key", metaPackage+".Status"
	enum := apiextensionsv1.JSONSchemaProps{Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"a"`)}, {Raw: []byte(`"b c"`)}}}
	pair := list(of("integer"))
	pair.MinItems, pair.MaxItems = new(int64(2)), new(int64(2))
	for want, s := range map[string]apiextensionsv1.JSONSchemaProps{
		"string": of("string"), "boolean": of("boolean"), "number": of("integer"), "unknown": of(""), "unknown[]": of("array"),
		"string[]": list(of("string")), `"a" | "b c"`: enum, `Array<"a" | "b c">`: list(enum), "[number, number]": pair,
		"Key": {Ref: &key}, "Key[]": list(apiextensionsv1.JSONSchemaProps{Ref: &key}), "Record<string, unknown>": {Ref: &status},
		"Record<string, number>": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: new(of("integer"))}},
	} {
		if got := typeScriptOf(&s); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
