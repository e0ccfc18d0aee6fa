//go:build !race

package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/protobuf"
)

func TestPack(t *testing.T) {
	light := newLightCodec([]byte(pod(1)))
	dense, err := newDenseCodec([]byte(pod(1)))
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 0, 4096)
	for i := range cap(noise) {
		noise = append(noise, byte(i*i*i>>3^i*2654435761>>7))
	}
	tests := map[string]struct {
		json    string
		codec   *codec
		wantRaw bool
	}{
		"empty":                  {json: "", wantRaw: true},
		"small":                  {json: `{"apiVersion":"v1"}`, codec: light, wantRaw: true},
		"pod":                    {json: pod(2), codec: light},
		"pod, dense":             {json: pod(2), codec: dense},
		"pod, no dictionary yet": {json: pod(2)},
		"incompressible":         {json: string(noise), codec: light, wantRaw: true},
		"incompressible, dense":  {json: string(noise), codec: dense, wantRaw: true},
		"huge":                   {json: strings.Repeat(pod(2), 1000), codec: light},
		"huge, dense":            {json: strings.Repeat(pod(2), 1000), codec: dense},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var o Object
			pack(&o, []byte("name"), []byte("uid"), []byte(test.json), test.codec)
			if o.is(plain) != test.wantRaw {
				t.Errorf("raw = %t", o.is(plain))
			}
			if o.Name() != "name" || o.UID() != "uid" {
				t.Errorf("name %q, uid %q", o.Name(), o.UID())
			}
			got, err := o.AppendJSON([]byte("before"))
			if err != nil || string(got) != "before"+test.json {
				t.Errorf("%d bytes came back of %d: %v", len(got), len(test.json), err)
			}
			if o.Size() != len(test.json) {
				t.Errorf("size = %d", o.Size())
			}
		})
	}
}

// TestPackUID: whatever the UID is and wherever it is in the JSON, both come back.
func TestPackUID(t *testing.T) {
	const uid = "0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f"
	for name, test := range map[string]struct {
		uid, json string
		wantShort bool
	}{
		"as usual":         {uid, `{"metadata":{"uid":"` + uid + `"}}`, true},
		"named before":     {uid, `{"metadata":{"annotations":{"a":"` + uid + `"},"uid":"` + uid + `"}}`, true},
		"long":             {uid, `{"metadata":{"uid":"` + uid + `"},"data":"` + strings.Repeat("data ", 1000) + `"}`, true},
		"far":              {uid, `{"metadata":{"annotations":{"a":"` + strings.Repeat("a", 1<<16) + `"},"uid":"` + uid + `"}}`, false},
		"upper case":       {strings.ToUpper(uid), `{"metadata":{"uid":"` + strings.ToUpper(uid) + `"}}`, false},
		"another form":     {"0f1e2d3c4b5a-4697-8879-6a5b4c3d2e1f-", `{"metadata":{"uid":"0f1e2d3c4b5a-4697-8879-6a5b4c3d2e1f-"}}`, false},
		"no digit":         {"gf1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f", `{"metadata":{"uid":"gf1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f"}}`, false},
		"escaped":          {uid, `{"metadata":{"uid":"0f\u0031e2d3c-4b5a-4697-8879-6a5b4c3d2e1f"}}`, false},
		"none":             {"", `{"metadata":{}}`, false},
		"blank":            {blankUID, `{"metadata":{"uid":"` + blankUID + `"}}`, true},
		"beside the blank": {uid, `{"metadata":{"uid":"` + uid + `","other":"` + blankUID + `"}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			var o, same, other Object
			pack(&o, []byte("name"), []byte(test.uid), []byte(test.json), nil)
			got, err := o.AppendJSON([]byte("before"))
			if err != nil || string(got) != "before"+test.json || o.UID() != test.uid || o.Name() != "name" {
				t.Errorf("%q of %q with %q: %v", got, o.Name(), o.UID(), err)
			}
			if o.is(shortUID) != test.wantShort {
				t.Errorf("short: %t", o.is(shortUID))
			}
			pack(&same, []byte("name"), []byte(test.uid), []byte(test.json), nil)
			pack(&other, []byte("name"), []byte("other"), []byte(test.json), nil)
			if !o.HasUIDOf(&same) || o.HasUIDOf(&other) {
				t.Error("compares wrongly with other UIDs")
			}
		})
	}
}

// TestPackAgain: an object that is packed again has nothing of the first time.
func TestPackAgain(t *testing.T) {
	var o Object
	compressible := `{"a":"` + strings.Repeat("a", rawBelow) + `"}`
	for _, json := range []string{`{"uid":"` + blankUID + `"}`, compressible, "{}", compressible} {
		pack(&o, []byte("name"), []byte(blankUID), []byte(json), nil)
		if got, err := o.AppendJSON(nil); err != nil || string(got) != json || o.UID() != blankUID {
			t.Fatalf("%q of %q, and the UID %q: %v", got, json, o.UID(), err)
		}
	}
}

func TestCorruption(t *testing.T) {
	dense, err := newDenseCodec([]byte(pod(1)))
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]*Object{
		"dense garbage":  {data: "\xff\x01\x02", size: 10, codec: dense},
		"dense, larger":  {data: string(dense.encode(nil, bytes.Repeat([]byte("x"), 50))), size: 40, codec: dense},
		"dense, smaller": {data: string(dense.encode(nil, bytes.Repeat([]byte("x"), 50))), size: 60, codec: dense},
		"garbage":        {data: "\xff\x01\x02", size: 10},
		"other size":     {data: string(s2.Encode(nil, bytes.Repeat([]byte("x"), 50))), size: 40},
	} {
		got, err := o.AppendJSON([]byte("kept"))
		if err == nil || string(got) != "kept" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// Content is worth a dictionary, and that of many objects a denser one.
func TestDictionaryPays(t *testing.T) {
	w := newWatch(1, podsKey, ignore, Options{}.Logger)
	for i := range denseAfter {
		takePod(t, w, i)
	}
	light := w.retained(t, denseAfter)
	if !w.codec.dense() {
		t.Fatal("not dense")
	}
	for i := range 1000 {
		takePod(t, w, denseAfter+i)
	}
	dense := w.retained(t, denseAfter+1000) - light
	if json := len(pod(1)); light/denseAfter > json/3 || dense/1000 > light/denseAfter*3/4 {
		t.Errorf("%d bytes retained per pod, then %d, of %d on the wire", light/denseAfter, dense/1000, json)
	}
}

// retained returns the packed size of the retained objects, after it has read each of them.
func (w *Watch) retained(t *testing.T, objects int) (packed int) {
	t.Helper()
	for o := range w.objects.all {
		if json, err := o.unpack(nil); err != nil || len(json) != int(o.size) {
			t.Fatalf("%s: %d bytes of %d: %v", o.Name(), len(json), o.size, err)
		}
		packed += len(o.packed())
		objects--
	}
	if objects != 0 {
		t.Fatalf("%d objects are missing", objects)
	}
	return packed
}

func takePod(tb testing.TB, w *Watch, i int) {
	tb.Helper()
	var d document
	if err := d.read([]byte(pod(i)), podMeta, false); err != nil {
		tb.Fatal(err)
	}
	if err := w.receive(tb.Context(), &d, nil); err != nil {
		tb.Fatal(err)
	}
}

// ignorant does nothing of what it is told.
type ignorant struct{}

func ignore(*Watch) Handler { return ignorant{} }

func (ignorant) Set(*Decoded)                  {}
func (ignorant) VersionOnly(*Object)           {}
func (ignorant) Delete(*Object)                {}
func (ignorant) Invalid(string, string, error) {}
func (ignorant) State(State)                   {}

func BenchmarkPack(b *testing.B) {
	for name, objects := range map[string]int{"light": 100, "dense": denseAfter} {
		b.Run(name, func(b *testing.B) {
			w := newWatch(1, podsKey, ignore, Options{}.Logger)
			for i := range objects {
				takePod(b, w, i)
			}
			var d document
			if err := d.read([]byte(pod(1000)), podMeta, false); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(d.json)))
			b.ReportAllocs()
			var o Object
			for b.Loop() {
				pack(&o, d.name, d.uid, d.json, w.codec)
			}
			b.ReportMetric(float64(len(o.packed())), "packed-bytes")
		})
	}
}

func BenchmarkUnpack(b *testing.B) {
	for name, objects := range map[string]int{"light": 100, "dense": 2 * denseAfter} {
		b.Run(name, func(b *testing.B) {
			w := newWatch(1, podsKey, ignore, Options{}.Logger)
			for i := range objects {
				takePod(b, w, i)
			}
			var d document
			if err := d.read([]byte(pod(objects-1)), podMeta, false); err != nil {
				b.Fatal(err)
			}
			o := w.objects.get(d.key())
			b.SetBytes(int64(o.size))
			b.ReportAllocs()
			buf := make([]byte, 0, o.size)
			for b.Loop() {
				if _, err := o.unpack(buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	raw := []byte(pod(1))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	var d document
	for b.Loop() {
		if err := d.read(raw, podMeta, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTree(b *testing.B) {
	var d document
	if err := d.read([]byte(pod(1)), podMeta, false); err != nil {
		b.Fatal(err)
	}
	var annotations jsontree.Shape
	annotations.Field("metadata", "annotations").Whole()
	for name, build := range map[string]func() (map[string]any, error){
		"whole":       func() (map[string]any, error) { return jsontree.Whole(d.json) },
		"annotations": func() (map[string]any, error) { return jsontree.Part(d.json, &annotations) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(d.json)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := build(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkList is all that happens to a list of 1,000 pods but the network.
func BenchmarkList(b *testing.B) {
	list := podList(1000)
	text, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	for name, in := range map[string]struct {
		response []byte
		message  *protobuf.Message
	}{"JSON": {text, nil}, "Protobuf": {encode(list), messageOf(kindPods)}} {
		for _, relist := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/relist=%t", name, relist), func(b *testing.B) {
				b.SetBytes(int64(len(in.response)))
				b.ReportAllocs()
				w := newWatch(1, podsKey, ignore, Options{}.Logger)
				for b.Loop() {
					if !relist {
						w = newWatch(1, podsKey, ignore, Options{}.Logger)
					}
					reader := listReader{message: in.message, take: func(d *document, invalid error) error { return w.receive(b.Context(), d, invalid) }}
					if _, err := reader.read(bytes.NewReader(in.response)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
