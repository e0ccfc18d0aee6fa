package stream

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

const (
	resource     = "graphs"
	kind         = "Graph"
	listKind     = "GraphList"
	subprotocol  = "graphview.v1"
	jsonType     = "application/json"
	eventsType   = "text/event-stream"
	formatOption = "format"
	jsonFormat   = "json"
	// heartbeatsOption is set to 1 by clients that see no pings.
	heartbeatsOption = "heartbeats"
)

var (
	groupVersion  = schema.GroupVersion{Group: "stream.graphview.dev", Version: "v1alpha1"}
	groupResource = groupVersion.WithResource(resource).GroupResource()
	groupPath     = "/apis/" + groupVersion.Group
	versionPath   = groupPath + "/" + groupVersion.Version
)

// codecs writes Status objects and negotiates, JSON only.
var codecs = newCodecs()

type jsonCodecs struct{ serializer.CodecFactory }

func newCodecs() jsonCodecs {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return jsonCodecs{serializer.NewCodecFactory(scheme)}
}

func (c jsonCodecs) SupportedMediaTypes() []runtime.SerializerInfo {
	info, _ := runtime.SerializerInfoForMediaType(c.CodecFactory.SupportedMediaTypes(), jsonType)
	return []runtime.SerializerInfo{info}
}
