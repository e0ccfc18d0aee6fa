package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"graphview.dev/graphview/protobuf"
	"graphview.dev/test/must"
)

// mostRecorded bounds how many pods are replayed.
const mostRecorded = 5000

// recorded is a pod as in an event of the API server, cut into the pieces between its
// resource version and its sequence.
type recorded struct {
	key                  string // namespace/name
	before, middle, rest []byte
	pod                  corev1.Pod // for events in Protobuf
}

var errOtherPod = errors.New("a pod is not as the API server used to write them")

// record lists pods.
func record(ctx context.Context, config *rest.Config) []recorded {
	client := must.Get(rest.HTTPClientFor(config))
	defer client.CloseIdleConnections()
	var text bytes.Buffer
	url := config.Host + pods.listPath() + "?pretty=false&limit=" + strconv.Itoa(mostRecorded)
	must.Get(copyList(ctx, client, url, inJSON, &text))
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	must.Do(json.Unmarshal(text.Bytes(), &list))
	all := make([]recorded, len(list.Items))
	for i, item := range list.Items {
		all[i] = must.Get(take(item))
	}
	if len(all) == 0 {
		must.Do(errors.New("there are no pods"))
	}
	return all
}

// changed matches a sequence among other annotations. It is never the first.
var changed = regexp.MustCompile(`,"` + sequence + `":"\d+"`)

// take cuts a pod into pieces. The API server writes members in the order of its types:
// the version comes before the annotations.
func take(item []byte) (recorded, error) {
	// The sequence of an earlier row is removed.
	text := changed.ReplaceAllLiteralString(string(item), "")
	var pod corev1.Pod
	if err := json.Unmarshal([]byte(text), &pod); err != nil {
		return recorded{}, fmt.Errorf("decode a pod: %w", err)
	}
	const version, annotations = `"resourceVersion":"`, `"annotations":{`
	head, text, ok := strings.Cut(text, version)
	_, text, hasEnd := strings.Cut(text, `"`)
	between, rest, hasAnnotations := strings.Cut(text, annotations)
	if !ok || !hasEnd || !hasAnnotations || strings.HasPrefix(rest, "}") || strings.Contains(rest, `"`+sequence+`":"`) || !strings.HasPrefix(head, "{") {
		return recorded{}, errOtherPod
	}
	return recorded{
		pod:    pod,
		key:    pod.Namespace + "/" + pod.Name,
		before: []byte(`{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",` + head[1:] + version),
		middle: []byte(`"` + between + annotations + `"` + sequence + `":"`),
		rest:   []byte(`",` + rest + "}\n"),
	}, nil
}

// appendFrame is appendEvent in Protobuf.
func (r *recorded) appendFrame(to []byte, version uint64, n int) []byte {
	r.pod.ResourceVersion = strconv.FormatUint(version, 10)
	r.pod.Annotations[sequence] = strconv.Itoa(n)
	object := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: must.Get(r.pod.Marshal())}
	event := metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: append([]byte(protobuf.Prefix), must.Get(object.Marshal())...)}}
	frame := must.Get(event.Marshal())
	return append(binary.BigEndian.AppendUint32(to, uint32(len(frame))), frame...)
}

// appendEvent appends the event of the n-th change, which gives the pod a version.
func (r *recorded) appendEvent(to []byte, version uint64, n int) []byte {
	to = append(to, r.before...)
	to = strconv.AppendUint(to, version, 10)
	to = append(to, r.middle...)
	to = strconv.AppendInt(to, int64(n), 10)
	return append(to, r.rest...)
}
