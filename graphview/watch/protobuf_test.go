package watch

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubeprotobuf "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"graphview.dev/graphview/protobuf"
)

// kindPods is podsKey with the kind that discovery knows, so pods are requested in Protobuf.
var kindPods = Key{Resource: podsKey.Resource, Kind: "Pod", Namespaced: true}

// encode encodes an object as an API server does.
func encode(object runtime.Object) []byte {
	var out bytes.Buffer
	serializer := kubeprotobuf.NewSerializerWithOptions(scheme.Scheme, scheme.Scheme, kubeprotobuf.SerializerOptions{StreamingCollectionsEncoding: true})
	if err := serializer.Encode(object, &out); err != nil {
		panic(err) // the objects are those of this test
	}
	return out.Bytes()
}

// decode decodes JSON of one kind, and gives the object this kind.
func decode[T runtime.Object](text []byte, into T, kind string) T {
	if err := json.Unmarshal(text, into); err != nil {
		panic(err)
	}
	into.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return into
}

// encodeEvent encodes an event as an API server does.
func encodeEvent(kind string, object []byte) []byte {
	event := metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object}}
	encoded, err := event.Marshal()
	if err != nil {
		panic(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(encoded))), encoded...)
}

// eventWriter turns the events of a watch into Protobuf. change, if set, may change the encoding of an object.
type eventWriter struct {
	http.ResponseWriter

	change func(pod *corev1.Pod, encoded []byte) []byte
}

func (w eventWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

func (w eventWriter) Write(frame []byte) (int, error) {
	if len(frame) == 0 {
		return w.ResponseWriter.Write(frame)
	}
	var event struct {
		Type   string
		Object json.RawMessage
	}
	if err := json.Unmarshal(frame, &event); err != nil {
		panic(err)
	}
	var object []byte
	if event.Type == string(apiwatch.Error) {
		object = encode(decode(event.Object, &metav1.Status{}, "Status"))
	} else {
		pod := decode(event.Object, &corev1.Pod{}, "Pod")
		if object = encode(pod); w.change != nil {
			object = w.change(pod, object)
		}
	}
	_, err := w.ResponseWriter.Write(encodeEvent(event.Type, object))
	return len(frame), err
}

// speakProtobuf makes a server answer in Protobuf if asked to.
func (s *server) speakProtobuf(change func(pod *corev1.Pod, encoded []byte) []byte) {
	s.answer(func(w http.ResponseWriter, r *http.Request, watch bool) bool {
		if !strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
			return false
		}
		if watch {
			s.serveWatch(eventWriter{w, change}, r)
			return true
		}
		answer := httptest.NewRecorder()
		s.serveList(answer, r)
		list := decode(answer.Body.Bytes(), &corev1.PodList{}, "PodList")
		encoded := encode(list)
		if change != nil {
			for i := range list.Items {
				encoded = change(&list.Items[i], encoded)
			}
		}
		_, _ = w.Write(encoded)
		return true
	})
}

// TestProtobuf follows a server in Protobuf and in JSON, and expects the same.
func TestProtobuf(t *testing.T) {
	s := newServer(t)
	for i := range 20 {
		name := fmt.Sprintf("p%d", i)
		s.set(name, object(name, `,"labels":{"app":"a\u003c"}`, fmt.Sprintf(`,"spec":{"containers":[{"name":"c","resources":{}}],"nodeName":"node-%d"},"status":{}`, i)))
	}
	s.speakProtobuf(nil)
	manager := start(t, s, newRecorder(t))
	inProtobuf, inJSON := newRecorder(t), newRecorder(t)
	acquire(t, &recorded{manager.Manager, inProtobuf}, kindPods)
	acquire(t, &recorded{manager.Manager, inJSON}, podsKey)
	both := func(what string, cond func(r *recorder) bool) {
		t.Helper()
		for _, r := range []*recorder{inProtobuf, inJSON} {
			r.await(what, func() bool { return cond(r) })
		}
		if diff := cmp.Diff(inJSON.json, inProtobuf.json); diff != "" {
			t.Fatalf("%s (-JSON +Protobuf):\n%s", what, diff)
		}
	}
	both("list", func(r *recorder) bool { return r.state.Synced && len(r.json) == 20 })
	s.set("p0", object("p0", "", `,"spec":{"containers":null,"nodeName":"changed"},"status":{"phase":"Running"}`))
	s.delete("p1")
	s.set("p20", object("p20", "", `,"spec":{"containers":null},"status":{}`))
	both("events", func(r *recorder) bool {
		return len(r.json) == 20 && strings.Contains(r.json["p0"], "Running") && r.json["p20"] != ""
	})
	s.send("BOOKMARK", `{"metadata":{"resourceVersion":"VERSION"}}`)
	s.hangUp()
	s.set("p2", object("p2", "", `,"spec":{"containers":null},"status":{"phase":"Failed"}`))
	both("events after a bookmark", func(r *recorder) bool { return strings.Contains(r.json["p2"], "Failed") })
	s.forget("p3")
	s.send("ERROR", `{"status":"Failure","reason":"Expired","code":410}`)
	both("another list", func(r *recorder) bool { return r.json["p3"] == "" })
	if n := manager.ProtobufFallbacks(); n != 0 {
		t.Errorf("%d fallbacks", n)
	}
	if n := s.requests("list rv=0 continue= accept=application/vnd.kubernetes.protobuf,application/json "); n == 0 {
		t.Errorf("no list was requested in Protobuf: %q", s.asked)
	}
}

// TestFallBack expects all objects if the server has a field that this version does not know, in a list or
// in an event.
func TestFallBack(t *testing.T) {
	for _, in := range []string{"p1", "p3"} { // p3 comes after the list
		t.Run(in, func(t *testing.T) {
			s := newServer(t)
			var changed atomic.Int32
			s.speakProtobuf(func(pod *corev1.Pod, encoded []byte) []byte {
				if pod.Name == in {
					changed.Add(1)
					return bytes.Replace(encoded, []byte("\x0a\x07unknown"), []byte("\x7a\x07unknown"), 1) // container 15
				}
				return encoded
			})
			set := func(name string) {
				s.set(name, object(name, "", `,"spec":{"containers":[{"name":"unknown","image":"`+name+`"}]},"status":{}`))
			}
			set("p1")
			set("p2")
			m := start(t, s, newRecorder(t))
			acquire(t, m, kindPods)
			m.recorder.await("list", func() bool { return m.recorder.state.Synced && len(m.recorder.json) == 2 })
			set("p3")
			set("p1")
			m.recorder.await("events", func() bool { return len(m.recorder.json) == 3 })
			want := map[string]string{}
			for _, name := range []string{"p1", "p2", "p3"} {
				var d document
				if err := d.read([]byte(s.render(name, `"apiVersion":"v1","kind":"Pod",`)), typeMeta{}, false); err != nil {
					t.Fatal(err)
				}
				want[name] = string(d.json)
			}
			m.recorder.await("all objects", func() bool {
				return strings.Contains(m.recorder.json["p1"], `"unknown"`) && m.recorder.json["p3"] == want["p3"]
			})
			if n := m.ProtobufFallbacks(); n != 1 || changed.Load() != 1 {
				t.Errorf("%d fallbacks after %d unknown fields", n, changed.Load())
			}
			if failed := m.recorder.count("state synced=true Failing") + m.recorder.count("state synced=false Failing"); failed > 0 {
				t.Errorf("%d failures", failed)
			}
		})
	}
}

func podList(n int) *corev1.PodList {
	list := &corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"},
	}
	for i := range n {
		var of corev1.Pod
		if err := json.Unmarshal([]byte(pod(i)), &of); err != nil {
			panic(err)
		}
		list.Items = append(list.Items, of)
	}
	return list
}

// readList returns the objects of a response, and the reasons why some are invalid.
func readList(r io.Reader, m *protobuf.Message, secret bool) (objects []string, meta metav1.ListMeta, err error) {
	l := listReader{secret: secret, message: m, take: func(d *document, invalid error) error {
		if invalid != nil {
			objects = append(objects, invalid.Error())
			return nil
		}
		hash, body := d.hashes()
		objects = append(objects, fmt.Sprintf("%s %s/%s %s %d %x %x", d.json, d.namespace, d.name, d.uid, d.number(), hash, body))
		return nil
	}}
	meta, err = l.read(r)
	return objects, meta, err
}

func TestReadProtobufList(t *testing.T) {
	list := podList(30)
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	want, wantMeta, err := readList(bytes.NewReader(text), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	encoded := encode(list)
	got, meta, err := readList(iotest.OneByteReader(bytes.NewReader(encoded)), messageOf(kindPods), false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-JSON +Protobuf):\n%s", diff)
	}
	if diff := cmp.Diff(wantMeta, meta); diff != "" {
		t.Errorf("metadata (-JSON +Protobuf):\n%s", diff)
	}
	got, _, err = readList(bytes.NewReader(text), messageOf(kindPods), false)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v; a server that answers in JSON all the same (-want +got):\n%s", err, diff)
	}
}

// TestAnnouncedLength: memory grows with the bytes that arrive, and not with the length that a server announces.
func TestAnnouncedLength(t *testing.T) {
	items := protowire.AppendVarint(protowire.AppendTag(nil, protobuf.ItemsField, protowire.BytesType), 1<<30)
	raw := protowire.AppendVarint(protowire.AppendTag([]byte("k8s\x00\x0a\x0d\x0a\x02v1\x12\x07PodList"), protobuf.RawField, protowire.BytesType), 1<<30+100)
	for name, body := range map[string]struct {
		text []byte
		want error
	}{
		"an item":                {append(raw, items...), io.ErrUnexpectedEOF},
		"longer than the list":   {append(append([]byte(nil), raw...), protowire.AppendVarint([]byte{18}, 1<<30+200)...), protobuf.Malformed("a list")},
		"longer than any object": {append(append([]byte(nil), raw...), protowire.AppendVarint([]byte{18}, 1<<62)...), protobuf.Malformed("a response")},
	} {
		t.Run(name, func(t *testing.T) {
			w := &window{r: bytes.NewReader(body.text)}
			l := listReader{message: messageOf(kindPods)}
			_, err := l.readProtobuf(w)
			if err == nil || err.Error() != body.want.Error() {
				t.Errorf("err = %v, want %v", err, body.want)
			}
			if cap(w.buf) > 64<<10 {
				t.Errorf("a buffer of %d bytes", cap(w.buf))
			}
		})
	}
	f := newFrames(io.NopCloser(bytes.NewReader([]byte{0x7f, 0xff, 0xff, 0xff, 1})), func() {}, "1", false)
	f.message = messageOf(kindPods)
	if _, _, err := f.Decode(); !errors.Is(err, io.EOF) || !f.endedInEvent {
		t.Errorf("err = %v, ended in an event: %t", err, f.endedInEvent)
	}
	if w := f.reader.(*protobufEvents).window; cap(w.buf) > 64<<10 {
		t.Errorf("a buffer of %d bytes", cap(w.buf))
	}
}

// TestSecretsInProtobuf: a server that sends whole Secrets although metadata was requested gives none of
// their data away, and no buffer retains it.
func TestSecretsInProtobuf(t *testing.T) {
	secrets := &corev1.SecretList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}, Items: []corev1.Secret{{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "shop", UID: "u"}, Data: map[string][]byte{"key": []byte("TOP-SECRET")},
	}}}
	text := encode(secrets)
	w := &window{r: iotest.HalfReader(bytes.NewReader(text)), secret: true}
	l := listReader{secret: true, document: new(document), message: messageOf(Key{Resource: podsKey.Resource.GroupVersion().WithResource("secrets")}), take: func(d *document, invalid error) error {
		if want := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"shop","uid":"u"}}`; invalid != nil || string(d.json) != want {
			t.Errorf("%s, %v", d.json, invalid)
		}
		return nil
	}}
	if _, err := l.readProtobuf(w); err != nil {
		t.Error(err)
	}
	if bytes.Contains(w.buf[:cap(w.buf)], []byte("SECRET")) {
		t.Error("the buffer has the data")
	}
}

// buffers is a reader that keeps the buffers that it was called with.
type buffers struct {
	io.Reader

	all [][]byte
}

func (b *buffers) Read(p []byte) (int, error) {
	b.all = append(b.all, p)
	return b.Reader.Read(p)
}

// TestSecretsInJSON: the same is true of a server that has no Protobuf, and so answers in JSON.
func TestSecretsInJSON(t *testing.T) {
	const (
		header = `"kind":"Secret","apiVersion":"v1",`
		secret = `"metadata":{"name":"a","namespace":"shop","uid":"u"},"stringData":{"key":"TOP-SECRET"}}`
		want   = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"shop","uid":"u"}}`
	)
	m := messageOf(Key{Resource: podsKey.Resource.GroupVersion().WithResource("secrets")})
	for name, test := range map[string]struct {
		text string
		read func(io.Reader) (*document, error)
	}{
		"a list": {`{"kind":"SecretList","apiVersion":"v1","metadata":{},"items":[{` + secret + `]}`, func(in io.Reader) (got *document, err error) {
			l := listReader{secret: true, message: m, take: func(d *document, invalid error) error {
				got = d
				return invalid
			}}
			_, err = l.read(in)
			return got, err
		}},
		"a watch": {`{"type":"ADDED","object":{` + header + secret + `}`, func(in io.Reader) (*document, error) {
			f := newFrames(io.NopCloser(in), func() {}, "1", true)
			f.message = m
			_, object, err := f.Decode()
			if err != nil {
				return nil, err
			}
			return &object.(*event).document, object.(*event).err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := &buffers{Reader: strings.NewReader(test.text)}
			d, err := test.read(in)
			if err != nil || string(d.json) != want {
				t.Fatalf("%s, %v", d.json, err)
			}
			for _, each := range in.all {
				if bytes.Contains(each, []byte("SECRET")) {
					t.Error("a buffer has the data")
				}
			}
		})
	}
}

// FuzzProtobufList reads anything as a list, and as the events of a watch.
func FuzzProtobufList(f *testing.F) {
	list := encode(podList(2))
	f.Add(list, false)
	f.Add(list, true)
	f.Add(append(encodeEvent("ADDED", encode(&podList(1).Items[0])), encodeEvent("ERROR", list)...), false)
	f.Fuzz(func(t *testing.T, text []byte, secret bool) {
		m := messageOf(kindPods)
		if secret {
			m = protobuf.Metadata()
		}
		l := listReader{secret: secret, message: m, take: func(d *document, invalid error) error {
			if invalid == nil {
				wholesome(t, d, secret)
			}
			return nil
		}}
		_, _ = l.read(bytes.NewReader(text))
		read := newFrames(io.NopCloser(bytes.NewReader(text)), func() {}, "1", secret)
		defer read.Close()
		read.message = m
		for {
			_, object, err := read.Decode()
			if err != nil {
				return
			}
			if e, ok := object.(*event); ok && e.err == nil && len(e.document.name) > 0 {
				wholesome(t, &e.document, secret)
			}
		}
	})
}
