package protobuf

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// special has the types that write their JSON themselves.
var special = map[reflect.Type]value{
	reflect.TypeFor[metav1.Time]():          {protowire.BytesType, appendTime(time.RFC3339)},
	reflect.TypeFor[metav1.MicroTime]():     {protowire.BytesType, appendTime(metav1.RFC3339Micro)},
	reflect.TypeFor[metav1.Duration]():      {protowire.BytesType, appendDuration},
	reflect.TypeFor[resource.Quantity]():    {protowire.BytesType, appendQuantity},
	reflect.TypeFor[intstr.IntOrString]():   {protowire.BytesType, appendIntOrString},
	reflect.TypeFor[runtime.RawExtension](): {protowire.BytesType, appendRaw},
	reflect.TypeFor[metav1.FieldsV1]():      {protowire.BytesType, appendRaw},
}

func appendText(_ *Reader, dst []byte, v encoded) ([]byte, error) {
	return appendString(dst, v.bytes), nil
}

func appendBool(_ *Reader, dst []byte, v encoded) ([]byte, error) {
	return strconv.AppendBool(dst, v.number != 0), nil
}

func appendInt(_ *Reader, dst []byte, v encoded) ([]byte, error) {
	return strconv.AppendInt(dst, int64(v.number), 10), nil //nolint:gosec // that is how it is encoded
}

func appendUint(_ *Reader, dst []byte, v encoded) ([]byte, error) {
	return strconv.AppendUint(dst, v.number, 10), nil
}

func appendDouble(_ *Reader, dst []byte, v encoded) ([]byte, error) {
	text, err := json.Marshal(math.Float64frombits(v.number))
	if err != nil {
		return dst, Malformed("a number")
	}
	return append(dst, text...), nil
}

func appendBytes(_ *Reader, dst []byte, v encoded) ([]byte, error) {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v.bytes), '"'), nil
}

// small has the fields of a message of numbers and one text.
type small struct {
	numbers [4]int64
	text    []byte
}

// readSmall reads a message with numbers in fields up to 3 and a text in one other.
func readSmall(name string, b []byte) (s small, err error) {
	for len(b) > 0 {
		number, wire, v, n := next(b)
		if n < 0 {
			return s, Malformed(name)
		}
		switch {
		case wire == protowire.VarintType && int(number) < len(s.numbers):
			s.numbers[number] = int64(v.number) //nolint:gosec // that is how it is encoded
		case wire == protowire.BytesType && (number == 1 || number == 3):
			s.text = v.bytes
		default:
			return s, Unknown(name, int(number))
		}
		b = b[n:]
	}
	return s, nil
}

// appendTime appends a Timestamp of seconds and nanoseconds, or null if it is empty.
func appendTime(layout string) func(*Reader, []byte, encoded) ([]byte, error) {
	return func(_ *Reader, dst []byte, v encoded) ([]byte, error) {
		if len(v.bytes) == 0 {
			return append(dst, "null"...), nil
		}
		s, err := readSmall("a time", v.bytes)
		t := time.Unix(s.numbers[1], s.numbers[2]).UTC()
		if err == nil && (t.Year() < 0 || t.Year() > 9999) {
			err = Malformed("a time")
		}
		return append(t.AppendFormat(append(dst, '"'), layout), '"'), err
	}
}

func appendDuration(_ *Reader, dst []byte, v encoded) ([]byte, error) {
	s, err := readSmall("a duration", v.bytes)
	return appendString(dst, []byte(time.Duration(s.numbers[1]).String())), err
}

func appendQuantity(_ *Reader, dst []byte, v encoded) ([]byte, error) {
	s, err := readSmall("a quantity", v.bytes)
	if len(s.text) == 0 {
		s.text = []byte("0")
	}
	return appendString(dst, s.text), err
}

func appendIntOrString(_ *Reader, dst []byte, v encoded) ([]byte, error) {
	s, err := readSmall("an int or string", v.bytes)
	switch {
	case err != nil:
		return dst, err
	case s.numbers[1] == int64(intstr.Int):
		return strconv.AppendInt(dst, s.numbers[2], 10), nil
	case s.numbers[1] == int64(intstr.String):
		return appendString(dst, s.text), nil
	}
	return dst, Malformed("an int or string")
}

// appendRaw appends an embedded object, which must be JSON. A server may have stored another encoding.
func appendRaw(_ *Reader, dst []byte, v encoded) ([]byte, error) {
	s, err := readSmall("an embedded object", v.bytes)
	if err != nil || len(s.text) == 0 {
		return append(dst, "null"...), err
	}
	var compact, escaped bytes.Buffer
	if json.Compact(&compact, s.text) != nil {
		return dst, &Error{"an embedded object is not JSON"}
	}
	json.HTMLEscape(&escaped, compact.Bytes())
	return append(dst, escaped.Bytes()...), nil
}

// plain reports for each byte whether it is itself within a JSON string.
var plain = func() (plain [256]bool) {
	for b := range plain {
		// 0xE2 begins U+2028 and U+2029.
		plain[b] = b >= ' ' && b != '"' && b != '\\' && b != '<' && b != '>' && b != '&' && b != 0xE2
	}
	return plain
}()

// appendString appends a JSON string with the escapes of encoding/json, which API servers use. It does not
// replace bytes that are not UTF-8.
func appendString(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	done := 0
	for i, b := range text {
		if plain[b] {
			continue
		}
		escape := byte(0)
		switch b {
		case '"', '\\':
			escape = b
		case '\b':
			escape = 'b'
		case '\f':
			escape = 'f'
		case '\n':
			escape = 'n'
		case '\r':
			escape = 'r'
		case '\t':
			escape = 't'
		case 0xE2:
			if end := text[i:]; len(end) > 2 && end[1] == 0x80 && end[2]&^1 == 0xA8 {
				dst = append(append(append(dst, text[done:i]...), `\u202`...), hex[end[2]&0xF])
				done = i + 3
			}
			continue
		}
		dst = append(dst, text[done:i]...)
		if done = i + 1; escape != 0 {
			dst = append(dst, '\\', escape)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&0xF])
		}
	}
	return append(append(dst, text[done:]...), '"')
}
