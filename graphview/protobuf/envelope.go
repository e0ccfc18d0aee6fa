package protobuf

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// Prefix begins each answer and each object of a watch event. A runtime.Unknown follows.
const Prefix = "k8s\x00"

// Numbers of the fields of a runtime.Unknown, and of a list. A reader of a stream needs no others.
const (
	TypeField, RawField       = 1, 2
	ListMetaField, ItemsField = 1, 2
)

// Unwrap returns the parts of a runtime.Unknown with its prefix.
func Unwrap(b []byte) (apiVersion, kind, raw []byte, err error) {
	after, ok := bytes.CutPrefix(b, []byte(Prefix))
	if !ok {
		return nil, nil, nil, Malformed("runtime.Unknown")
	}
	found, err := texts("runtime.Unknown", after)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(found[3]) > 0 {
		return nil, nil, nil, Unknown("runtime.Unknown", 3)
	}
	apiVersion, kind, err = TypeMeta(found[TypeField])
	return apiVersion, kind, found[RawField], err
}

// TypeMeta returns the parts of a TypeMeta.
func TypeMeta(b []byte) (apiVersion, kind []byte, err error) {
	found, err := texts("TypeMeta", b)
	return found[1], found[2], err
}

// Event returns the parts of a watch event. The object is a runtime.Unknown with its prefix.
func Event(b []byte) (kind, object []byte, err error) {
	event, err := texts("WatchEvent", b)
	if err != nil {
		return nil, nil, err
	}
	extension, err := texts("RawExtension", event[2])
	return event[1], extension[1], err
}

// texts returns the fields of a message that are texts, by their numbers. It must have no others.
func texts(name string, b []byte) (found [5][]byte, err error) {
	for len(b) > 0 {
		number, wire, v, n := next(b)
		if n < 0 {
			return found, Malformed(name)
		}
		if wire != protowire.BytesType || int64(number) >= int64(len(found)) {
			return found, Unknown(name, int(number))
		}
		found[number], b = v.bytes, b[n:]
	}
	return found, nil
}
