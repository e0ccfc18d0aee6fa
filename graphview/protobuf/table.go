package protobuf

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Message is the table of a Go type.
type Message struct {
	name   string
	fields []field // in the order of JSON
	// byNumber has the place in fields, plus one, by the number of a field.
	byNumber []uint8
	// nullable is the set of fields that are null in JSON if they are not encoded.
	nullable uint64
	// typeMeta has the members kind and apiVersion, for an object within another. Protobuf lacks them, and API
	// servers write them.
	typeMeta string
	// partial: fields that are not in the table are skipped.
	partial bool
}

// field is a field of a Message.
type field struct {
	number protowire.Number
	quoted string // the name in JSON, with quotes and colon
	inline *Message
	value  value
	form   form
	// omitZero: JSON does not have the field if it is zero.
	omitZero bool
	identity identity
}

// form is the form of a field in JSON.
type form uint8

const (
	single form = iota
	list
	object
	skipped
)

// identity says which part of an object that the Reader reports a field is, if it is one.
type identity uint8

const (
	none identity = iota
	namespaceOf
	nameOf
	uidOf
	versionOf
	annotationsOf
	statusOf
)

// tables has the Messages of Go types, which refer to each other, and of kinds.
var tables = struct {
	sync.Mutex
	types map[reflect.Type]*Message
	kinds map[schema.GroupVersionKind]*Message
}{types: make(map[reflect.Type]*Message), kinds: make(map[schema.GroupVersionKind]*Message)}

var errUnsupported = errors.New("no Protobuf is known for it")

// ForKind returns the table of a kind, nil if its objects must be read as JSON.
func ForKind(kind schema.GroupVersionKind) *Message {
	tables.Lock()
	defer tables.Unlock()
	m, ok := tables.kinds[kind]
	if !ok {
		if t, known := scheme.Scheme.AllKnownTypes()[kind]; known {
			m, _ = objectOf(t) // nil with an error
		}
		tables.kinds[kind] = m
	}
	return m
}

// Metadata returns the table of objects whose metadata alone is read. All other fields are skipped.
func Metadata() *Message {
	tables.Lock()
	defer tables.Unlock()
	m, err := objectOf(reflect.TypeFor[metav1.PartialObjectMetadata]())
	if err != nil {
		panic(err) // the type is compiled in
	}
	m.partial = true
	return m
}

// objectOf returns the table of a kind: that of its Go type, but its metadata is that of an object.
func objectOf(t reflect.Type) (*Message, error) {
	if meta, ok := t.FieldByName("ObjectMeta"); !ok || meta.Type != reflect.TypeFor[metav1.ObjectMeta]() {
		return nil, fmt.Errorf("%s is no object: %w", t, errUnsupported)
	}
	m, err := messageOf(t)
	if err != nil {
		return nil, err
	}
	meta, err := metadataOf()
	if err != nil {
		return nil, err
	}
	return m.with(func(f *field) {
		switch f.quoted {
		case `"metadata":`:
			f.value = meta.value()
		case `"status":`:
			f.identity = statusOf
		}
	}), nil
}

// metadataOf returns the table of the metadata of an object, in which the Reader finds its identity.
func metadataOf() (*Message, error) {
	m, err := messageOf(reflect.TypeFor[metav1.ObjectMeta]())
	if err != nil {
		return nil, err
	}
	return m.with(func(f *field) {
		switch f.quoted {
		case `"namespace":`:
			f.identity = namespaceOf
		case `"name":`:
			f.identity = nameOf
		case `"uid":`:
			f.identity = uidOf
		case `"resourceVersion":`:
			f.identity = versionOf
		case `"annotations":`:
			f.identity = annotationsOf
		case `"managedFields":`:
			f.form = skipped
		}
	}), nil
}

// with returns a copy of the table whose fields are changed.
func (m *Message) with(change func(*field)) *Message {
	own := *m
	own.fields = slices.Clone(m.fields)
	for i := range own.fields {
		change(&own.fields[i])
	}
	return &own
}

// maxFields is the number of fields that a set has.
const maxFields = 64

// messageOf returns the table of a struct.
func messageOf(t reflect.Type) (*Message, error) {
	if m, ok := tables.types[t]; ok {
		return m, nil
	}
	m := &Message{name: t.String()}
	tables.types[t] = m // before the fields: a type may contain itself
	for of := range t.Fields() {
		f, nullable, ok, err := fieldOf(of)
		if err == nil && len(m.fields) == maxFields {
			err = fmt.Errorf("%s has more than %d fields: %w", t, maxFields, errUnsupported)
		}
		if err != nil {
			delete(tables.types, t)
			return nil, err
		}
		if !ok {
			m.typeMeta = typeMetaOf(t)
			continue
		}
		if nullable {
			m.nullable |= 1 << len(m.fields)
		}
		m.fields = append(m.fields, f)
		m.byNumber = append(m.byNumber, make([]uint8, max(0, int(f.number)+1-len(m.byNumber)))...)
		m.byNumber[f.number] = uint8(len(m.fields)) //nolint:gosec // at most maxFields
	}
	return m, nil
}

// typeMetaOf returns the members kind and apiVersion of the Go type of an object, "" for another type.
func typeMetaOf(t reflect.Type) string {
	object, ok := reflect.TypeAssert[interface {
		runtime.Object
		metav1.Object
	}](reflect.New(t))
	if !ok {
		return ""
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		return ""
	}
	apiVersion, kind := kinds[0].ToAPIVersionAndKind()
	return fmt.Sprintf(`"kind":%q,"apiVersion":%q`, kind, apiVersion)
}

// fieldOf returns the table of a field. nullable: JSON has null if the field is not encoded. ok is false
// if the type has it neither in JSON nor in Protobuf.
func fieldOf(of reflect.StructField) (f field, nullable, ok bool, err error) {
	tag := of.Tag.Get("protobuf")
	if tag == "" && of.Type == reflect.TypeFor[metav1.TypeMeta]() {
		return f, false, false, nil
	}
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		return f, false, false, fmt.Errorf("field %s: %w", of.Name, errUnsupported)
	}
	number, err := strconv.ParseInt(parts[1], 10, 32)
	if err != nil || number < 1 || number > 1000 {
		return f, false, false, fmt.Errorf("field %s has the number %q: %w", of.Name, parts[1], errUnsupported)
	}
	f.number = protowire.Number(number)
	name, options, _ := strings.Cut(of.Tag.Get("json"), ",")
	if name == "" && of.Anonymous && of.Type.Kind() == reflect.Struct {
		f.inline, err = messageOf(of.Type)
		f.value.wire = protowire.BytesType
		return f, nullable, true, err
	}
	if name == "" || name == "-" {
		return f, false, false, fmt.Errorf("field %s is not in JSON: %w", of.Name, errUnsupported)
	}
	f.quoted = strconv.Quote(name) + ":"
	omitEmpty := strings.Contains(options, "omitempty")
	t := of.Type
	switch kind := t.Kind(); {
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		f.form, nullable = list, !omitEmpty
		f.value, err = valueOf(t.Elem())
	case kind == reflect.Map && t.Key().Kind() == reflect.String:
		f.form, nullable = object, !omitEmpty
		f.value, err = valueOf(t.Elem())
	default:
		f.omitZero = omitEmpty && kind != reflect.Struct && kind != reflect.Pointer || strings.Contains(options, "omitzero")
		nullable = !omitEmpty && (kind == reflect.Pointer || kind == reflect.Slice)
		f.value, err = valueOf(t)
	}
	if err == nil && strings.Contains(options, "omitzero") && t != reflect.TypeFor[metav1.Time]() {
		err = fmt.Errorf("field %s has omitzero: %w", of.Name, errUnsupported)
	}
	return f, nullable, true, err
}

// value says how a value is encoded, and appends it as JSON.
type value struct {
	wire   protowire.Type
	append func(r *Reader, dst []byte, v encoded) ([]byte, error)
}

func (m *Message) value() value {
	return value{protowire.BytesType, func(r *Reader, dst []byte, v encoded) ([]byte, error) { return r.object(dst, m, v.bytes) }}
}

// valueOf returns the encoding of a type. A type that writes its JSON itself must be one of special.
func valueOf(t reflect.Type) (value, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if v, ok := special[t]; ok {
		return v, nil
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return value{}, fmt.Errorf("%s: %w", t, errUnsupported)
	}
	switch t.Kind() {
	case reflect.String:
		return value{protowire.BytesType, appendText}, nil
	case reflect.Bool:
		return value{protowire.VarintType, appendBool}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return value{protowire.VarintType, appendInt}, nil
	case reflect.Uint32, reflect.Uint64:
		return value{protowire.VarintType, appendUint}, nil
	case reflect.Float64:
		return value{protowire.Fixed64Type, appendDouble}, nil
	case reflect.Struct:
		m, err := messageOf(t)
		if err != nil {
			return value{}, err
		}
		return m.value(), nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return value{protowire.BytesType, appendBytes}, nil
		}
		// A list within a list, or in a map, is a message with the list as its only field.
		elements, err := valueOf(t.Elem())
		m := &Message{name: t.String(), fields: []field{{number: 1, value: elements, form: list}}, byNumber: []uint8{0, 1}}
		return value{protowire.BytesType, m.appendList}, err
	default:
		return value{}, fmt.Errorf("%s: %w", t, errUnsupported)
	}
}
