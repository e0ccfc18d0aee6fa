package health

import (
	"strconv"
	"time"

	"graphview.dev/graphview/jsontree"
)

// fields are a value of an object: of a tree, or where that is nil, as it was read.
type fields struct {
	tree any
	read jsontree.Value
}

// at is the value at a path.
func (f fields) at(path ...string) fields {
	for _, name := range path {
		if f.tree == nil {
			f.read = f.read.Member(name)
			continue
		}
		members, _ := f.tree.(map[string]any)
		f.tree = members[name]
	}
	return f
}

// text is a string at a path, "" for anything else.
func (f fields) text(path ...string) string {
	v := f.at(path...)
	if v.tree == nil {
		said, _ := v.read.Text()
		return interned(said)
	}
	s, _ := v.tree.(string)
	return s
}

// number is a whole number at a path. Some projects write theirs as text.
func (f fields) number(path ...string) (n int64, found bool) {
	v := f.at(path...)
	if n, found = v.read.Int(); found {
		return n, true
	}
	switch v := v.tree.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), true
	}
	text := v.text()
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func (f fields) numberOr(otherwise int64, path ...string) int64 {
	if n, found := f.number(path...); found {
		return n
	}
	return otherwise
}

func (f fields) isTrue(path ...string) bool {
	v := f.at(path...)
	return v.tree == true || v.read.IsTrue()
}

func (f fields) isFalse(path ...string) bool {
	v := f.at(path...)
	return v.tree == false || v.read.IsFalse()
}

// has reports whether there is a value other than null at a path.
func (f fields) has(path ...string) bool {
	v := f.at(path...)
	return v.tree != nil || v.read.Exists()
}

// each calls yield for the objects of a list at a path.
func (f fields) each(yield func(fields) bool, path ...string) {
	v := f.at(path...)
	for element := range v.read.Elements {
		if element.IsObject() && !yield(fields{read: element}) {
			return
		}
	}
	list, _ := v.tree.([]any)
	for _, element := range list {
		if _, isObject := element.(map[string]any); isObject && !yield(fields{tree: element}) {
			return
		}
	}
}

func (f fields) length(path ...string) int {
	v := f.at(path...)
	list, _ := v.tree.([]any)
	n := len(list)
	for range v.read.Elements {
		n++
	}
	return n
}

// seconds is a time in RFC 3339, in seconds since 1970, 0 for what is none.
func seconds(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	return at.Unix()
}
