package wire

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shape returns the names and types of a payload's fields.
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

// TestVersion: a change of a payload needs another version, unless a replica of the
// version before may ignore what is new.
func TestVersion(t *testing.T) {
	const key = "{Resource {Group string, Version string, Resource string}, Namespace string, Name string}"
	const places = "[{g string, r string, n string, y bool}]"
	const answers = "{digest string, of string, places " + places + "}"
	want := map[string]string{
		"versions": "4",
		"Greeting": "{run string, version string}",
		"Held":     "{synced bool}",
		"Opening": "{Answers " + answers + ", user {name string, groups [string], verb string}, window int, since string, content uint8, excludeInferred bool, joinWalk bool, " +
			"narrow {Roots [" + key + "], Walk {Direction uint8, Against [uint8], Types [uint8], Depth int}}, owner string, key " + key + "}",
		"Answers": answers,
		"Place":   places,
		"Finding": "{object {Vertex [uint8], Out [uint8], In [uint8], More bool, Unseen int}}",
		"Ending":  "{reason string, message string}",
	}
	got := map[string]string{"versions": Versions}
	for name, payload := range map[string]any{
		"Greeting": Greeting{}, "Held": Held{}, "Opening": Opening{}, "Answers": Answers{}, "Place": []Place{}, "Finding": Finding{}, "Ending": Ending{},
	} {
		got[name] = shape(reflect.TypeOf(payload))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("another payload needs another version (-want +got):\n%s", diff)
	}
}

func TestNegotiate(t *testing.T) {
	for name, tt := range map[string]struct{ own, offered, want string }{
		"the same":             {"4", "4", "4"},
		"the lowest common":    {"4,5,6", "5,6,7", "5"},
		"an older replica":     {"4,5", "4", "4"},
		"none":                 {"4", "3", ""},
		"a replica without":    {"4", "none", ""},
		"an empty offer":       {"4", "", ""},
		"not a part of a name": {"4", "14", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := Negotiate(tt.own, tt.offered); got != tt.want || ok != (tt.want != "") {
				t.Errorf("%q %t, want %q", got, ok, tt.want)
			}
		})
	}
}
