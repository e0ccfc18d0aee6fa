package delivery

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	streamv1alpha1 "graphview.dev/api/stream/v1alpha1"
	"graphview.dev/graphview/graph"
)

// TestFramesHaveTypes: the types of the protocol have each member that the encoder writes, a message that
// is encoded with them is the same, and the encoder writes each member of the types. Errors have the types
// already.
func TestFramesHaveTypes(t *testing.T) {
	pod := graph.Key{Resource: graph.Resource{Version: "v1", Resource: "pods"}, Namespace: "shop", Name: "a"}
	object := &fakeObject{json: `{"kind":"Pod"}`}
	summary := streamv1alpha1.Summary{
		Kind: "Pod", Created: 1, App: "web", UID: "u", Root: true,
		Health: "degraded", Why: "Failed", Ready: &[2]int64{1, 2}, Since: 3, Overdue: 4, Ended: true,
		Deletion: &streamv1alpha1.DeletionFacts{
			Finalizers: []string{"a", "b"}, Prunes: true, Kept: true, Ended: true, Suspended: true, Unscheduled: true,
			Grants: []streamv1alpha1.Grant{{FromGroup: "g", FromKind: "k", Namespace: "n", ToGroup: "h", ToKind: "l", ToName: "m"}},
		},
		Remote: []streamv1alpha1.RemoteReference{{Cluster: "argocd:x", Group: "apps", Kind: "Deployment", Namespace: "n", Name: "m"}},
		Selects: &streamv1alpha1.Selection{
			Group: "apps", Kind: "Pod", Requirements: []streamv1alpha1.Requirement{{Label: "app", Operator: "In", Values: []string{"a", "b"}}},
		},
		PodLabels: map[string]string{"app": "web", "b": "c"},
	}
	arc := graph.Change{
		Vertex: pod, To: deployment, Type: graph.Direct, Controller: true, BlockOwnerDeletion: true, Missing: true, Optional: true,
		Outside: graph.Elsewhere, Fields: []string{"spec.x", "spec.y"},
	}
	gone := graph.Change{Op: graph.DeleteArc, Vertex: arc.Vertex, To: arc.To, Type: arc.Type}
	arc.Op = graph.SetArc
	b := newFrameBuilder(true)
	b.keep, b.tags = "1.2", true
	for _, c := range []graph.Change{
		{Op: graph.SetVertex, Vertex: pod, Payload: object},
		{Op: graph.SetVertex, Vertex: pod, Payload: object, Part: []byte(`[1]`)},
		{Op: graph.SetVertex, Vertex: pod, Payload: object, Part: []byte(`{"phase":"Running"}`)},
		{Op: graph.SetVertex, Vertex: deployment, Payload: summaryText(jsonOf(&summary))},
		{Op: graph.SetVertex, Vertex: deployment},
		{Op: graph.DeleteVertex, Vertex: pod}, arc, gone,
	} {
		b.add(&c)
	}
	warning := About(streamv1alpha1.AccessDenied, "no", pod.Resource, "shop")
	warning.Attributes.Name = "a"
	b.warn([]Warning{warning, {Type: streamv1alpha1.DiscoveryFailed}}, []Warning{warning})
	b.kinds = kindsText([]graph.Used{{Resource: deployment.Resource, Kind: graph.Kind{Kind: "Deployment"}}}, true)
	b.close("7", true)
	b.frames = append(b.frames, &Frame{JSON: []byte(`{"syncing":true}`)})

	written := map[string]bool{"Message.Error": true}
	for _, frame := range b.frames {
		var m streamv1alpha1.Message
		decoder := json.NewDecoder(bytes.NewReader(frame.JSON))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&m); err != nil {
			t.Fatalf("%v: %s", err, frame.JSON)
		}
		again, err := json.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(anyOf(t, frame.JSON), anyOf(t, again)); diff != "" {
			t.Errorf("encoded again (-engine +types):\n%s", diff)
		}
		collect(reflect.ValueOf(m), written)
	}
	for name, is := range written {
		if !is {
			t.Errorf("the encoder never writes %s", name)
		}
	}
}

func anyOf(t *testing.T, text []byte) (value any) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// collect stores which fields of structs are set.
func collect(value reflect.Value, written map[string]bool) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			collect(value.Elem(), written)
		}
	case reflect.Slice:
		for i := range value.Len() {
			collect(value.Index(i), written)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			name := value.Type().Name() + "." + value.Type().Field(i).Name
			written[name] = written[name] || !value.Field(i).IsZero()
			collect(value.Field(i), written)
		}
	}
}
