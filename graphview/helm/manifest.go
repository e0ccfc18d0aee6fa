package helm

import (
	"bytes"
	"errors"

	"graphview.dev/graphview/budget"
)

// manifest reads the documents of a release's manifest.
type manifest struct {
	namespace string // the release's
	found     [][4]string
	meter     *budget.Meter
}

func newManifest(namespace string) *manifest {
	return &manifest{namespace: namespace, meter: releaseBytes.Meter()}
}

// read lists the objects of the documents. With a budget.Exceeded, it returns the objects before
// the bound.
func (m *manifest) read(text []byte) ([][4]string, error) {
	for len(text) > 0 {
		var one []byte
		if one, text = cutDocument(text); len(one) == 0 {
			continue
		}
		d, plain := scan(one)
		all := []document{d}
		if !plain {
			var err error
			switch all, err = m.parse(one); {
			case errors.Is(err, errManifest):
				return nil, err
			case err != nil:
				return m.found, err
			}
		}
		for _, d := range all {
			if err := m.add(d); err != nil {
				return m.found, err
			}
		}
	}
	return m.found, nil
}

// cutDocument cuts at the next line that begins with three dashes.
func cutDocument(text []byte) (document, rest []byte) {
	for at := 0; at < len(text); {
		end := bytes.IndexByte(text[at:], '\n')
		line := text[at:]
		if end >= 0 {
			line = text[at : at+end]
		}
		if after, ok := bytes.CutPrefix(line, []byte("---")); ok && (len(after) == 0 || after[0] == ' ' || after[0] == '\t' || after[0] == '\r') {
			after = bytes.TrimSpace(after)
			if len(after) == 0 || after[0] == '#' {
				if end < 0 {
					return text[:at], nil
				}
				return text[:at], text[at+end+1:]
			}
			// The document begins on the line of the dashes.
			return text[:at], text[at+len("---"):]
		}
		if end < 0 {
			break
		}
		at += end + 1
	}
	return text, nil
}

// add lists the object of a document if such an object can exist.
func (m *manifest) add(d document) error {
	group, _, ok := cutVersion(d.apiVersion)
	if !ok || len(d.kind) > maxWord || !isName(d.kind) || !isName(d.name) || d.namespace != "" && (len(d.namespace) > maxWord || !isName(d.namespace)) {
		return nil
	}
	if d.namespace == "" {
		d.namespace = m.namespace
	}
	if err := m.meter.Take(listedObject + listedByte*(len(group)+len(d.kind)+len(d.namespace)+len(d.name))); err != nil {
		return err
	}
	m.found = append(m.found, [4]string{group, d.kind, d.namespace, d.name})
	return nil
}

func cutVersion(apiVersion string) (group, version string, ok bool) {
	for i := range len(apiVersion) {
		if apiVersion[i] == '/' {
			group, version = apiVersion[:i], apiVersion[i+1:]
			return group, version, isName(group) && isName(version)
		}
	}
	return "", apiVersion, isName(apiVersion)
}

func isName(text string) bool {
	if text == "" || len(text) > maxName {
		return false
	}
	for i := range len(text) {
		if !isNameByte(text[i]) {
			return false
		}
	}
	return true
}

// isNameByte reports whether c may be in the name of a group, a kind or an object. RBAC names have
// colons.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == ':' || c == '_'
}
