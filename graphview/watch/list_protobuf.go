package watch

import (
	"errors"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"graphview.dev/graphview/protobuf"
)

// readProtobuf reads a list in Protobuf, item by item: a runtime.Unknown, whose content is the list.
func (l *listReader) readProtobuf(w *window) (meta metav1.ListMeta, err error) {
	defer func() { w.wipe(w.buf) }()
	if prefix, err := w.inner(len(protobuf.Prefix)); err != nil || string(prefix) != protobuf.Prefix {
		return meta, errors.Join(err, protobuf.Malformed("a response"))
	}
	listed := false
	for {
		number, length, err := w.field()
		if errors.Is(err, io.EOF) && listed {
			return meta, nil
		}
		if err != nil {
			return meta, within(err)
		}
		switch {
		case number == protobuf.TypeField:
			err = l.readType(w, length)
		case number == protobuf.RawField && l.item.known():
			listed = true
			meta, err = l.readItems(w, length)
		case length > 0: // an encoding or a media type of the content
			err = protobuf.Unknown("runtime.Unknown", number)
		}
		if err != nil {
			return meta, err
		}
	}
}

// readType reads the kind of the list.
func (l *listReader) readType(w *window, length int) error {
	text, err := w.inner(length)
	if err != nil {
		return err
	}
	apiVersion, kind, err := protobuf.TypeMeta(text)
	item, isList := strings.CutSuffix(string(kind), "List")
	if err == nil && !isList {
		return errNoList
	}
	l.item = quoted(string(apiVersion), item)
	return err
}

// readItems reads the list.
func (l *listReader) readItems(w *window, length int) (meta metav1.ListMeta, err error) {
	for end := w.done + int64(length); w.done < end; {
		number, length, err := w.field()
		if err == nil && w.done+int64(length) > end {
			err = protobuf.Malformed("a list")
		}
		if err != nil {
			return meta, within(err)
		}
		raw, err := w.inner(length)
		if err != nil {
			return meta, err
		}
		switch number {
		case protobuf.ListMetaField:
			if meta.Unmarshal(raw) != nil {
				err = protobuf.Malformed("the metadata of a list")
			}
		case protobuf.ItemsField:
			l.count(raw)
			invalid := l.document.readProtobuf(raw, l.message, l.item, l.secret)
			if err = unreadable(invalid); err == nil {
				err = l.take(l.document, invalid)
			}
			w.wipe(raw)
		default:
			err = protobuf.Unknown("a list", number)
		}
		if err != nil {
			return meta, err
		}
	}
	return meta, nil
}
