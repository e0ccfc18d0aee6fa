package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/graphview/jsontree"
	"graphview.dev/graphview/protobuf"
)

var errNoList = errors.New("the answer is not a list")

// malformedError has the offset of a syntax error. Unlike jsontext's error, it quotes no JSON.
type malformedError struct{ offset int64 }

func (e *malformedError) Error() string { return fmt.Sprintf("malformed JSON at byte %d", e.offset) }

// listReader reads one page of a list, item by item.
type listReader struct {
	secret bool
	// message, if set, is the table of the items for a response in Protobuf.
	message *protobuf.Message
	// take is called with each item. invalid is the reason if the item is not
	// usable. An error of take ends the list.
	take func(d *document, invalid error) error
	// reduce is that of the documents.
	reduce Reduce

	// document receives the next item.
	document *document
	// objects is the number of items that have been read.
	objects int
	// first is the hash of the first item, 0 if there is none.
	first uint64
	// item is the kind of the items, as far as it has been read from the list.
	item typeMeta
	// waiting has the items without a kind that come before the kind of the list. No known
	// server writes such lists, so their memory is not limited.
	waiting [][]byte
	ended   bool
}

// read reads a response in either encoding.
func (l *listReader) read(r io.Reader) (metav1.ListMeta, error) {
	if l.document == nil {
		l.document = new(document)
	}
	if l.message != nil {
		w := &window{r: r, secret: l.secret}
		if begin, err := w.peek(1); err == nil && begin[0] == protobuf.Prefix[0] {
			return l.readProtobuf(w)
		}
		r = w
	}
	return l.readJSON(r)
}

func (l *listReader) readJSON(r io.Reader) (metav1.ListMeta, error) {
	dec := jsontext.NewDecoder(r, tolerant...)
	meta, err := l.list(dec)
	if _, ok := errors.AsType[*malformedError](err); ok || errors.Is(err, io.ErrUnexpectedEOF) {
		if status := statusAmid(dec.UnreadBuffer(), r); status != nil {
			err = status
		}
	}
	if l.secret && err != nil {
		clear(dec.UnreadBuffer())
	}
	return meta, err
}

func (l *listReader) list(dec *jsontext.Decoder) (meta metav1.ListMeta, err error) {
	if dec.PeekKind() != '{' {
		if _, err := dec.ReadToken(); err != nil {
			return meta, malformed(err)
		}
		return meta, errNoList
	}
	if _, err := dec.ReadToken(); err != nil {
		return meta, malformed(err)
	}
	listed := false
	for dec.PeekKind() == '"' {
		quoted, err := dec.ReadValue()
		if err != nil {
			return meta, malformed(err)
		}
		switch string(jsontree.Unquote(quoted)) {
		case "apiVersion":
			l.item.apiVersion, err = readString(dec)
		case "kind":
			l.item.kind, err = readString(dec)
			l.item.kind = itemKind(l.item.kind)
		case "metadata":
			var value jsontext.Value
			if value, err = dec.ReadValue(); err != nil {
				break
			}
			if json.Unmarshal(value, &meta) != nil {
				return meta, errNoList
			}
		case "items":
			listed = true
			if err := l.items(dec); err != nil {
				return meta, err
			}
		default:
			err = dec.SkipValue()
		}
		if err != nil {
			return meta, malformed(err)
		}
	}
	if _, err := dec.ReadToken(); err != nil { // the closing brace
		return meta, malformed(err)
	}
	if !listed {
		return meta, errNoList
	}
	l.ended = true
	for _, raw := range l.waiting {
		if err := l.takeItem(raw); err != nil {
			return meta, err
		}
	}
	return meta, nil
}

// items reads the list's array, or null.
func (l *listReader) items(dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	if err != nil {
		return malformed(err)
	}
	if token.Kind() == 'n' {
		return nil
	}
	if token.Kind() != '[' {
		return errNoList
	}
	for dec.PeekKind() != ']' {
		raw, err := dec.ReadValue()
		if err != nil {
			return malformed(err)
		}
		l.count(raw)
		err = l.takeItem(raw)
		if l.secret {
			// The decoder does not need raw any more, but may keep its buffer for long.
			clear(raw)
		}
		if err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return malformed(err)
	}
	return nil
}

// count counts an item, and hashes the first.
func (l *listReader) count(raw []byte) {
	if l.objects++; l.objects == 1 {
		l.first = maphash.Bytes(seed, raw)
	}
}

func (l *listReader) takeItem(raw []byte) error {
	l.document.reduce = l.reduce
	invalid := l.document.read(raw, l.item, l.secret)
	if errors.Is(invalid, errNoKind) && !l.ended {
		l.waiting = append(l.waiting, bytes.Clone(raw))
		return nil
	}
	return l.take(l.document, invalid)
}

// readString returns a copy of the next value, quoted, or nil if it is not a string.
func readString(dec *jsontext.Decoder) ([]byte, error) {
	value, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	if value.Kind() != '"' {
		return nil, nil
	}
	return value.Clone(), nil
}

// itemKind returns the kind of the items of a list: "Pod" for "PodList". Both are quoted.
func itemKind(quoted []byte) []byte {
	if kind, ok := strings.CutSuffix(string(quoted), `List"`); ok {
		return []byte(kind + `"`)
	}
	return nil
}

// malformed turns an error of jsontext into a connectionError if a read failed, into
// io.ErrUnexpectedEOF if the JSON ended early, or into a malformedError. Within a value,
// jsontext returns a SyntacticError for all three.
func malformed(err error) error {
	if connection, ok := errors.AsType[*connectionError](err); ok {
		return connection
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.ErrUnexpectedEOF
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return &malformedError{syntax.ByteOffset}
	}
	return err
}
