package watch

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"graphview.dev/graphview/jsontree"
)

func TestPack(t *testing.T) {
	dict := s2.MakeDict([]byte(pod(1)), []byte(typicalStart))
	noise := make([]byte, 0, 4096)
	for i := range cap(noise) {
		noise = append(noise, byte(i*i*i>>3^i*2654435761>>7))
	}
	tests := map[string]struct {
		json    string
		dict    *s2.Dict
		wantRaw bool
	}{
		"empty":                  {json: "", wantRaw: true},
		"small":                  {json: `{"apiVersion":"v1"}`, dict: dict, wantRaw: true},
		"pod":                    {json: pod(2), dict: dict},
		"pod, no dictionary yet": {json: pod(2)},
		"incompressible":         {json: string(noise), dict: dict, wantRaw: true},
		"huge":                   {json: strings.Repeat(pod(2), 1000), dict: dict},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var o Object
			pack(&o, []byte("name"), []byte("uid"), []byte(test.json), test.dict)
			if o.raw != test.wantRaw {
				t.Errorf("raw = %t", o.raw)
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

func TestCorruption(t *testing.T) {
	for name, o := range map[string]*Object{
		"garbage":    {data: "\xff\x01\x02", size: 10},
		"other size": {data: string(s2.Encode(nil, bytes.Repeat([]byte("x"), 50))), size: 40},
	} {
		got, err := o.AppendJSON([]byte("kept"))
		if err == nil || string(got) != "kept" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// What performance.md promises of content: about 1.1 KB for a pod of 5 KB.
func TestDictionaryPays(t *testing.T) {
	w := newWatch(1, podsKey, ignorant{}, Options{}.Logger)
	var json, packed int
	for i := range 1000 {
		takePod(t, w, i)
	}
	for o := range w.objects.all {
		json += int(o.size)
		packed += len(o.packed())
	}
	if w.dict == nil {
		t.Fatal("no dictionary")
	}
	if json < 5*packed/2 {
		t.Errorf("%d bytes retained of %d", packed/1000, json/1000)
	}
	t.Logf("%d bytes retained of %d per pod, %d on the wire", packed/1000, json/1000, len(pod(1)))
}

func takePod(tb testing.TB, w *Watch, i int) {
	tb.Helper()
	var d document
	if err := d.read([]byte(pod(i)), podMeta, false); err != nil {
		tb.Fatal(err)
	}
	if err := w.take(tb.Context(), &d, nil); err != nil {
		tb.Fatal(err)
	}
}

// ignorant does nothing of what it is told.
type ignorant struct{}

func (ignorant) Set(*Watch, *Decoded)                  {}
func (ignorant) Delete(*Watch, *Object)                {}
func (ignorant) Invalid(*Watch, string, string, error) {}
func (ignorant) State(*Watch, State)                   {}

func BenchmarkPack(b *testing.B) {
	w := newWatch(1, podsKey, ignorant{}, Options{}.Logger)
	for i := range 100 {
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
		pack(&o, d.name, d.uid, d.json, w.dict)
	}
	b.ReportMetric(float64(len(o.packed())), "packed-bytes")
}

func BenchmarkUnpack(b *testing.B) {
	w := newWatch(1, podsKey, ignorant{}, Options{}.Logger)
	for i := range 100 {
		takePod(b, w, i)
	}
	o := w.objects.get(func() name {
		var d document
		if err := d.read([]byte(pod(99)), podMeta, false); err != nil {
			b.Fatal(err)
		}
		return d.key()
	}())
	b.SetBytes(int64(o.size))
	b.ReportAllocs()
	buf := make([]byte, 0, o.size)
	for b.Loop() {
		if _, err := o.unpack(buf); err != nil {
			b.Fatal(err)
		}
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
	b.SetBytes(int64(len(d.json)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsontree.Whole(d.json); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList is all that happens to a list of 1,000 pods but the network.
func BenchmarkList(b *testing.B) {
	var list bytes.Buffer
	list.WriteString(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[`)
	for i := range 1000 {
		if i > 0 {
			list.WriteByte(',')
		}
		list.WriteString(pod(i))
	}
	list.WriteString(`]}`)
	for _, relist := range []bool{false, true} {
		b.Run(fmt.Sprintf("relist=%t", relist), func(b *testing.B) {
			b.SetBytes(int64(list.Len()))
			b.ReportAllocs()
			w := newWatch(1, podsKey, ignorant{}, Options{}.Logger)
			for b.Loop() {
				if !relist {
					w = newWatch(1, podsKey, ignorant{}, Options{}.Logger)
				}
				reader := listReader{take: func(d *document, invalid error) error { return w.take(b.Context(), d, invalid) }}
				if _, err := reader.read(bytes.NewReader(list.Bytes())); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
