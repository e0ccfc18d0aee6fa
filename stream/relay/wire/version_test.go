package wire

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shape is what a payload says: the names of its fields and what they are.
func shape(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return shape(t.Elem())
	case reflect.Slice:
		return "[" + shape(t.Elem()) + "]"
	case reflect.Struct:
		var fields []string
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			fields = append(fields, name+" "+shape(f.Type))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	default:
		return t.Kind().String()
	}
}

// TestVersion: whoever changes what a payload says gives the wire another version, since
// replicas of the version before drop a field that they do not know.
func TestVersion(t *testing.T) {
	const key = "{Resource {Group string, Version string, Resource string}, Namespace string, Name string}"
	const places = "[{g string, r string, n string, y bool}]"
	const answers = "{of uint64, digest string, places " + places + "}"
	want := map[string]string{
		"version":  "3",
		"Greeting": "{run string, synced bool}",
		"Opening": "{Answers " + answers + ", continue bool, step uint64, since string, Wanted {content uint8, excludeInferred bool}, " +
			"narrow {Roots [" + key + "], Walk {Direction uint8, Against [uint8], Types [uint8], Depth int}}, owner string, key " + key + "}",
		"Answers":     answers,
		"Place":       places,
		"Finding":     "{object {Vertex [uint8], Out [uint8], In [uint8], More bool}}",
		"Ending":      "{reason string, message string}",
		"Subscribers": "{run string, views [{ns string, n string, s int}]}",
	}
	got := map[string]string{"version": Version}
	for name, payload := range map[string]any{
		"Greeting": Greeting{}, "Opening": Opening{}, "Answers": Answers{}, "Place": []Place{}, "Finding": Finding{}, "Ending": Ending{}, "Subscribers": Subscribers{},
	} {
		got[name] = shape(reflect.TypeOf(payload))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with another payload goes another version (-want +got):\n%s", diff)
	}
}
