package health

import (
	"strconv"
	"time"

	"graphview.dev/graphview/jsontree"
)

// fields are the members of an object: of a tree, or where that is nil, as they were read.
type fields struct {
	tree map[string]any
	read jsontree.Value
}

func (f fields) below(path ...string) fields {
	for _, name := range path {
		if f.tree == nil {
			f.read = f.read.Member(name)
			continue
		}
		next, isObject := f.tree[name].(map[string]any)
		if f.tree = next; !isObject {
			return fields{}
		}
	}
	return f
}

// owner is what has the last member of a path, and the name of that.
func (f fields) owner(path []string) (owner fields, name string) {
	last := len(path) - 1
	return f.below(path[:last]...), path[last]
}

// text is a string at a path, "" for anything else.
func (f fields) text(path ...string) string {
	owner, name := f.owner(path)
	if owner.tree == nil {
		said, _ := owner.read.Member(name).Text()
		return interned(said)
	}
	s, _ := owner.tree[name].(string)
	return s
}

// number is a whole number at a path. Some projects write theirs as text.
func (f fields) number(path ...string) (n int64, found bool) {
	owner, name := f.owner(path)
	if owner.tree == nil {
		value := owner.read.Member(name)
		if n, found = value.Int(); found {
			return n, true
		}
		said, isText := value.Text()
		if !isText {
			return 0, false
		}
		return numberIn(string(said))
	}
	switch v := owner.tree[name].(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), true
	case string:
		return numberIn(v)
	}
	return 0, false
}

func numberIn(text string) (n int64, isNumber bool) {
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
	owner, name := f.owner(path)
	if owner.tree == nil {
		return owner.read.Member(name).IsTrue()
	}
	b, _ := owner.tree[name].(bool)
	return b
}

func (f fields) isFalse(path ...string) bool {
	owner, name := f.owner(path)
	if owner.tree == nil {
		return owner.read.Member(name).IsFalse()
	}
	b, isBool := owner.tree[name].(bool)
	return isBool && !b
}

// has reports whether there is a value other than null at a path.
func (f fields) has(path ...string) bool {
	owner, name := f.owner(path)
	if owner.tree == nil {
		return owner.read.Member(name).Exists()
	}
	return owner.tree[name] != nil
}

// each calls yield for the objects of a list at a path.
func (f fields) each(yield func(fields) bool, path ...string) {
	owner, name := f.owner(path)
	if owner.tree == nil {
		for element := range owner.read.Member(name).Elements {
			if element.IsObject() && !yield(fields{read: element}) {
				return
			}
		}
		return
	}
	list, _ := owner.tree[name].([]any)
	for _, element := range list {
		if object, isObject := element.(map[string]any); isObject && !yield(fields{tree: object}) {
			return
		}
	}
}

func (f fields) length(path ...string) (n int) {
	owner, name := f.owner(path)
	if owner.tree == nil {
		for range owner.read.Member(name).Elements {
			n++
		}
		return n
	}
	list, _ := owner.tree[name].([]any)
	return len(list)
}

// seconds is a time in RFC 3339, in seconds since 1970, 0 for what is none.
func seconds(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	return at.Unix()
}
