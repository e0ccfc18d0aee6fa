package schemas

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"graphview.dev/graphview/budget"
	"graphview.dev/graphview/graph"
	"graphview.dev/graphview/refs/schema"
)

var (
	// document limits the bytes that are read of the document of one group and version, or of the index.
	document = budget.Declare("schema_document_bytes", "bytes of one group's OpenAPI document, or of the index of all", 64<<20)
)

// maxDepth limits the depth to which a schema is read.
const maxDepth = 64

// Read yields the schemas of wanted kinds in an OpenAPI v3 document, one at a time. Schemas that point
// to other schemas of the document come last. A schema that is too large is nil, with an error.
func Read(r io.Reader, wanted func(graph.Kind) bool, yield func(graph.Kind, *schema.Schema, error)) error {
	limited := &meteredReader{r: r, meter: document.Meter()}
	d := &decoder{Decoder: jsontext.NewDecoder(limited, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	shared := newShared()
	err := d.object(func(key string) error {
		if key != "components" {
			return d.SkipValue()
		}
		return d.object(func(key string) error {
			if key != "schemas" {
				return d.SkipValue()
			}
			return d.object(func(name string) error {
				name = strings.Clone(name)
				d.begin()
				s, err := d.decode(0)
				if len(d.kinds) == 0 {
					shared.keep(name, s, d.pointers, d.fields)
				}
				for _, kind := range d.kinds {
					switch {
					case !wanted(kind):
					case len(d.pointers) > 0 && d.meter.Err() == nil:
						shared.hold(kind, s, d.pointers, d.fields)
					default:
						yield(kind, s, d.meter.Err())
					}
				}
				return err
			})
		})
	})
	if err == nil {
		shared.yield(yield)
	}
	return err
}

// Decode reads one schema, such as that of a CustomResourceDefinition's version.
func Decode(r io.Reader) (*schema.Schema, error) {
	d := &decoder{Decoder: jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	d.begin()
	s, err := d.decode(0)
	if err == nil {
		err = d.meter.Err()
	}
	return s, err
}

type decoder struct {
	*jsontext.Decoder

	meter  *budget.Meter
	fields int          // of the current schema
	kinds  []graph.Kind // with the current schema
	// pointers has the schemas that stand for another schema of the document, and the name of that
	// schema.
	pointers map[*schema.Schema]string
}

func (d *decoder) begin() {
	d.meter, d.fields, d.kinds, d.pointers = schema.Size.Meter(), 0, nil, nil
}

// object reads an object. each reads the value of a member.
func (d *decoder) object(each func(key string) error) error {
	return d.inside('{', func() error {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		return each(token.String())
	})
}

// inside calls each in a list or an object that begins with bracket, and skips any other value.
func (d *decoder) inside(bracket jsontext.Kind, each func() error) error {
	if d.PeekKind() != bracket {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for {
		switch d.PeekKind() {
		case '}', ']':
			_, err := d.ReadToken()
			return err
		case 0:
			_, err := d.ReadToken()
			return cmp.Or(err, io.ErrUnexpectedEOF)
		}
		if err := each(); err != nil {
			return err
		}
	}
}

// text reads a string. It skips other values, and returns "" for them.
func (d *decoder) text() (string, error) {
	if d.PeekKind() != '"' {
		return "", d.SkipValue()
	}
	token, err := d.ReadToken()
	return token.String(), err
}

// decode reads a schema, without the parts that are too deep or exceed the budget.
func (d *decoder) decode(depth int) (*schema.Schema, error) {
	if d.PeekKind() != '{' || depth > maxDepth || d.meter.Take(1) != nil {
		return nil, d.SkipValue()
	}
	s := &schema.Schema{}
	required := make(map[string]bool)
	d.fields++
	err := d.object(func(key string) (err error) {
		switch key {
		case "$ref":
			var pointer string
			if pointer, err = d.text(); err == nil {
				d.point(s, pointer)
			}
		case "allOf":
			err = d.inside('[', func() error { return d.pointerIn(s) })
		case "type":
			s.Type, err = d.text()
		case "description":
			var text string
			text, err = d.text()
			s.KeyOf = keyOf(text)
		case "enum":
			s.Closed = true
			err = d.SkipValue()
		case "format":
			var format string
			format, err = d.text()
			s.Closed = s.Closed || isOther[format]
		case "x-kubernetes-embedded-resource":
			s.Embedded = d.PeekKind() == 't'
			err = d.SkipValue()
		case "properties":
			err = d.properties(s, depth)
		case "required":
			err = d.inside('[', func() error {
				key, err := d.text()
				if d.meter.Take(1) == nil {
					required[strings.Clone(key)] = true
				}
				return err
			})
		case "items":
			s.Items, err = d.decode(depth + 1)
		case "additionalProperties":
			s.Values, err = d.decode(depth + 1)
		case "x-kubernetes-group-version-kind":
			if depth > 0 {
				return d.SkipValue()
			}
			err = d.groupVersionKinds()
		default:
			err = d.SkipValue()
		}
		return err
	})
	for i := range s.Properties {
		s.Properties[i].Required = required[s.Properties[i].Key]
	}
	return s, err
}

// point records that s stands for another schema of the document.
func (d *decoder) point(s *schema.Schema, pointer string) {
	name, ok := strings.CutPrefix(pointer, "#/components/schemas/")
	if !ok || isOfMachinery(name) {
		return
	}
	if d.pointers == nil {
		d.pointers = make(map[*schema.Schema]string)
	}
	d.pointers[s] = strings.Clone(name)
}

// pointerIn reads an element of allOf: there a pointer can have a description or a default beside it.
func (d *decoder) pointerIn(s *schema.Schema) error {
	return d.object(func(key string) error {
		if key != "$ref" {
			return d.SkipValue()
		}
		pointer, err := d.text()
		if err == nil {
			d.point(s, pointer)
		}
		return err
	})
}

// keyOf returns the kind whose key a field selects, by the description of the field in Kubernetes'
// types: all generators of schemas copy the comments of the Go types.
func keyOf(description string) string {
	switch {
	case strings.HasPrefix(description, "The key of the secret to select from."):
		return "Secret"
	case description == "The key to select.":
		return "ConfigMap"
	}
	return ""
}

// isOther has the formats of texts that are not names.
var isOther = map[string]bool{"date": true, "date-time": true, "duration": true, "email": true, "ipv4": true, "ipv6": true, "byte": true, "password": true, "uuid": true}

func (d *decoder) properties(s *schema.Schema, depth int) error {
	err := d.object(func(key string) error {
		below, err := d.decode(depth + 1)
		if below != nil {
			s.Properties = append(s.Properties, schema.Property{Key: strings.Clone(key), Schema: below})
		}
		return err
	})
	slices.SortFunc(s.Properties, func(a, b schema.Property) int { return strings.Compare(a.Key, b.Key) })
	return err
}

// groupVersionKinds reads the kinds that the current schema describes.
func (d *decoder) groupVersionKinds() error {
	return d.inside('[', func() error {
		var kind graph.Kind
		err := d.object(func(key string) (err error) {
			switch key {
			case "group":
				kind.Group, err = d.text()
			case "kind":
				kind.Kind, err = d.text()
			default:
				err = d.SkipValue()
			}
			return err
		})
		if len(d.kinds) < maxKinds {
			d.kinds = append(d.kinds, kind)
		}
		return err
	})
}

// maxKinds bounds the kinds of one schema. Those of request options have the kinds of all groups, and
// are not wanted.
const maxKinds = 4

// meteredReader returns an error once its budget is exceeded.
type meteredReader struct {
	r     io.Reader
	meter *budget.Meter
}

func (m *meteredReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if exceeded := m.meter.Take(n); exceeded != nil {
		return 0, fmt.Errorf("read the document: %w", exceeded)
	}
	return n, err
}
