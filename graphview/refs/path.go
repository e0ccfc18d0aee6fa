package refs

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// maxDepth bounds the steps of a path, and so the depth of the walk. The deepest paths of
// Kubernetes' own kinds, below a CronJob's containers, have 12.
const maxDepth = 32

// step leads from a value to the values below it.
type step struct {
	kind stepKind
	key  string // of a field
}

type stepKind uint8

const (
	field    stepKind = iota // the member key of an object
	elements                 // every element of a list
	values                   // every value of a map
)

// parsePath reads the form a.b[].c{}.d['e/f'].
func parsePath(text string) ([]step, error) {
	var steps []step
	for rest := text; rest != ""; {
		next, remainder, err := parseStep(rest, len(steps) == 0)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", text, err)
		}
		steps, rest = append(steps, next), remainder
		if len(steps) > maxDepth {
			return nil, fmt.Errorf("path %q: more than %d steps", text, maxDepth)
		}
	}
	if len(steps) == 0 {
		return nil, errors.New("path is empty")
	}
	if steps[0].kind != field {
		return nil, fmt.Errorf("path %q: does not start with a key", text)
	}
	return steps, nil
}

func parseStep(text string, first bool) (step, string, error) {
	if rest, ok := strings.CutPrefix(text, "[]"); ok {
		return step{kind: elements}, rest, nil
	}
	if rest, ok := strings.CutPrefix(text, "{}"); ok {
		return step{kind: values}, rest, nil
	}
	if rest, ok := strings.CutPrefix(text, "['"); ok {
		key, rest, ok := strings.Cut(rest, "']")
		if !ok || key == "" {
			return step{}, "", errors.New("expected a key and '] after ['")
		}
		if !isPathKey(key) {
			return step{}, "", fmt.Errorf("key %q contains a control character or a line separator", key)
		}
		return step{key: key}, rest, nil
	}
	if !first {
		var ok bool
		if text, ok = strings.CutPrefix(text, "."); !ok {
			return step{}, "", fmt.Errorf("expected a dot before %q", text)
		}
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !isKeyRune(r) })
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return step{}, "", fmt.Errorf("expected a key at %q", text)
	}
	return step{key: text[:end]}, text[end:], nil
}

func isKeyRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '$'
}

// isPathKey reports whether a path may contain a key. It excludes line breaks, because
// paths are printed on one line, and control characters, because one separates the word of
// a reference from its path.
func isPathKey(key string) bool {
	return !strings.ContainsFunc(key, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) })
}

// join mounts path below prefix; either may be empty.
func join(prefix, path string) string {
	if prefix == "" || path == "" || strings.HasPrefix(path, "[") || strings.HasPrefix(path, "{") {
		return prefix + path
	}
	return prefix + "." + path
}

// holder returns the number of steps to the object that holds the last key of a path.
func holder(steps []step) int {
	for i := len(steps) - 1; i > 0; i-- {
		if steps[i].kind == field {
			return i
		}
	}
	return 0
}

// companion is a further field of a reference: the keys to follow from the value after
// the first depth steps of the rule's path.
type companion struct {
	depth int
	keys  []string
}

// parseCompanion resolves a field that is relative to the value after base
// steps of path or, with a leading dot, to the object's root.
func parseCompanion(text string, path []step, base int) (companion, error) {
	relative, fromRoot := strings.CutPrefix(text, ".")
	steps, err := parsePath(relative)
	if err != nil {
		return companion{}, fmt.Errorf("field %q: %w", text, err)
	}
	if fromRoot {
		base = 0
		for base < len(steps) && base < len(path) && steps[base] == path[base] {
			base++
		}
		steps = steps[base:]
	}
	keys := make([]string, 0, len(steps))
	for _, s := range steps {
		if s.kind != field {
			return companion{}, fmt.Errorf("field %q: enters a list or a map that the path does not", text)
		}
		keys = append(keys, s.key)
	}
	return companion{depth: base, keys: keys}, nil
}

// find returns the value of the field, or nil.
func (c *companion) find(reached []any) any {
	value := reached[c.depth]
	for _, key := range c.keys {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}
