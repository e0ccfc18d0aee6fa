package protobuf

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// marshal returns an object in Protobuf.
func marshal(t testing.TB, object interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	encoded, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func TestUnreadable(t *testing.T) {
	pod := marshal(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	message := func(number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	tests := map[string]struct {
		kind    string
		encoded []byte
		want    string
	}{
		"unknown field":           {encoded: append(bytes.Clone(pod), message(99, nil)...), want: "v1.Pod has a field 99 that this version does not know"},
		"unknown field within":    {encoded: append(bytes.Clone(pod), message(2, message(99, nil))...), want: "v1.PodSpec has a field 99 that this version does not know"},
		"large number":            {encoded: append(bytes.Clone(pod), message(protowire.MaxValidNumber, nil)...), want: "v1.Pod has a field 536870911 that this version does not know"},
		"larger than any number":  {encoded: append(protowire.AppendVarint(nil, (uint64(protowire.MaxValidNumber)+1)<<3|uint64(protowire.BytesType)), 0), want: "malformed Protobuf of v1.Pod"},
		"another encoding":        {encoded: protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 7), want: "field 1 of v1.Pod has another encoding"},
		"truncated":               {encoded: pod[:len(pod)-1], want: "malformed Protobuf of v1.Pod"},
		"truncated within":        {encoded: message(2, []byte{10, 200}), want: "malformed Protobuf of v1.PodSpec"},
		"length of 2^63":          {encoded: []byte{10, 255, 255, 255, 255, 255, 255, 255, 255, 127}, want: "malformed Protobuf of v1.Pod"},
		"nested groups":           {encoded: bytes.Repeat([]byte{11}, 1e6), want: "malformed Protobuf of v1.Pod"},
		"no field 0":              {encoded: message(0, nil), want: "malformed Protobuf of v1.Pod"},
		"a label without value":   {encoded: message(1, message(11, message(3, nil))), want: "a map has a field 3 that this version does not know"},
		"a time of many years":    {encoded: message(1, message(8, []byte{8, 255, 255, 255, 255, 255, 255, 255, 127})), want: "malformed Protobuf of a time"},
		"embedded, but not JSON":  {kind: "apps/v1 ControllerRevision", encoded: message(2, message(1, []byte("\xd9\xd9\xf7"))), want: "an embedded object is not JSON"},
		"neither int nor string":  {kind: "policy/v1 PodDisruptionBudget", encoded: message(2, message(1, []byte{8, 7})), want: "malformed Protobuf of an int or string"},
		"unknown field of a time": {encoded: message(1, message(8, []byte{24, 1, 32, 1})), want: "a time has a field 4 that this version does not know"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			kind := podKind
			if apiVersion, of, ok := strings.Cut(test.kind, " "); ok {
				kind = schema.FromAPIVersionAndKind(apiVersion, of)
			}
			var r Reader
			_, err := r.AppendMembers([]byte("{"), ForKind(kind), test.encoded)
			if _, ok := errors.AsType[*Error](err); !ok || err.Error() != test.want {
				t.Errorf("err = %v, want %s", err, test.want)
			}
		})
	}
}

// TestMetadata: of a whole Secret, which a server should not send, metadata alone is read.
func TestMetadata(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{lastApplied: "SECRET"}}, Data: map[string][]byte{"k": []byte("SECRET")}}
	var r Reader
	got, err := r.AppendMembers([]byte("{"), Metadata(), marshal(t, secret))
	if want := `{"metadata":{"name":"a"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// TestReuse: after an object that cannot be read, the Reader reads the next one.
func TestReuse(t *testing.T) {
	pod := marshal(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "n"}})
	var r Reader
	for _, encoded := range [][]byte{pod, append(bytes.Clone(pod), 18, 3, 10, 1, 200), pod} {
		_, _ = r.AppendMembers([]byte("{"), ForKind(podKind), encoded)
	}
	if len(r.places) != 0 || string(r.Name) != "a" || string(r.Namespace) != "n" {
		t.Errorf("%d places, %s/%s", len(r.places), r.Namespace, r.Name)
	}
}

// FuzzReader reads anything as a pod, as an object that embeds JSON, and as metadata.
func FuzzReader(f *testing.F) {
	for _, name := range []string{"core.v1.Pod", "apps.v1.ControllerRevision", "certificates.k8s.io.v1.CertificateSigningRequest", "autoscaling.v2.HorizontalPodAutoscaler"} {
		encoded, err := os.ReadFile(filepath.Join(golden(f), "HEAD", name+".pb"))
		if err != nil {
			f.Fatal(err)
		}
		_, _, raw, err := Unwrap(encoded)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(encoded)
	}
	f.Add(bytes.Repeat([]byte{18, 0}, 100))
	kinds := []*Message{Metadata()}
	for _, kind := range []schema.GroupVersionKind{
		podKind, {Group: "apps", Version: "v1", Kind: "ControllerRevision"}, {Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"},
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	} {
		kinds = append(kinds, ForKind(kind))
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var r Reader
		for _, m := range kinds {
			got, err := r.AppendMembers([]byte("{"), m, encoded)
			if err == nil && !json.Valid(append(got, '}')) {
				t.Errorf("%s: no JSON: %q", m.name, got)
			}
			if _, ok := errors.AsType[*Error](err); err != nil && !ok {
				t.Errorf("%s: another error: %v", m.name, err)
			}
		}
		_, _, _, _ = Unwrap(encoded)
		_, _, _ = Event(encoded)
	})
}

// BenchmarkReader reads the golden pod, which has all fields.
func BenchmarkReader(b *testing.B) {
	encoded, err := os.ReadFile(filepath.Join(golden(b), "HEAD", "core.v1.Pod.pb"))
	if err != nil {
		b.Fatal(err)
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(encoded[len(Prefix):]); err != nil {
		b.Fatal(err)
	}
	var r Reader
	var out []byte
	for b.Loop() {
		if out, err = r.AppendMembers(append(out[:0], '{'), ForKind(podKind), unknown.Raw); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(out)))
}
