package protobuf

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

	"graphview.dev/test/seed"
)

// encodable is a Go type of k8s.io/api.
type encodable interface {
	metav1.Object
	Marshal() ([]byte, error)
	Unmarshal(encoded []byte) error
}

// randomTexts have all that encoding/json escapes, and more.
var randomTexts = []string{"", "a", "app-7", `"`, `\`, "<a&b>", "\u2028\u2029", "ü€𝄞", "a\tb\nc\rd\be\ff", "\x00\x1f\x7f", "â€\u200a"}

func filler(random *rand.Rand) *randfill.Filler {
	instant := func() time.Time { return time.Unix(random.Int64N(4e9), 1000*random.Int64N(1e6)) }
	return randfill.NewWithSeed(random.Int64()).NilChance(.3).NumElements(0, 3).Funcs(
		func(s *string, _ randfill.Continue) { *s = randomTexts[random.IntN(len(randomTexts))] },
		func(*metav1.TypeMeta, randfill.Continue) {},
		func(of *metav1.Time, _ randfill.Continue) {
			if random.IntN(3) > 0 {
				of.Time = instant()
			}
		},
		func(of *metav1.MicroTime, _ randfill.Continue) {
			if random.IntN(3) > 0 {
				of.Time = instant()
			}
		},
		func(of *resource.Quantity, _ randfill.Continue) {
			*of = *resource.NewMilliQuantity(random.Int64N(1e6), resource.BinarySI)
		},
		func(of *intstr.IntOrString, _ randfill.Continue) {
			if *of = intstr.FromInt32(random.Int32()); random.IntN(2) == 0 {
				*of = intstr.FromString("<http>")
			}
		},
		func(of *runtime.RawExtension, _ randfill.Continue) {
			of.Raw = [][]byte{nil, []byte("{}"), []byte(`{"a": [1, "<&>\u2028"]}`)}[random.IntN(3)]
		},
		func(of *metav1.FieldsV1, _ randfill.Continue) { of.SetRawBytes([]byte(`{"f:spec": {}}`)) },
	)
}

// TestRandomObjects compares both encodings of objects of all kinds that have, or lack, any of their fields. The
// JSON is that of the object that an API server decodes from the Protobuf in its storage.
func TestRandomObjects(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 7))
	fill := filler(random)
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		m := ForKind(kind)
		if m == nil {
			continue
		}
		for range 10 {
			object, stored := reflect.New(of).Interface().(encodable), reflect.New(of).Interface().(encodable)
			fill.Fill(object)
			if random.IntN(4) == 0 {
				object.SetAnnotations(map[string]string{lastApplied: "{}"})
			}
			encoded, err := object.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			if err := stored.Unmarshal(encoded); err != nil {
				t.Fatal(err)
			}
			stored.SetManagedFields(nil)
			annotations := stored.GetAnnotations()
			delete(annotations, lastApplied)
			stored.SetAnnotations(annotations)
			want, err := json.Marshal(stored)
			if err != nil {
				t.Fatal(err)
			}
			var r Reader
			got, err := r.AppendMembers([]byte("{"), m, encoded)
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if got := withoutClaimKinds(string(got) + "}"); got != string(want) {
				t.Fatalf("%s (-JSON +Protobuf):\n%s", kind, cmp.Diff(string(want), got))
			}
		}
	}
}
