package release

import "bytes"

const (
	// maxObjects bounds what is listed of one release. What comes after is left
	// out.
	maxObjects = 10_000
	maxName    = 253
)

// manifest reads the documents of a release's manifest.
type manifest struct {
	namespace string // the release's
	found     [][4]string
	parsed    int // bytes that took a YAML parser
}

func (m manifest) read(text []byte) ([][4]string, error) {
	for len(text) > 0 && len(m.found) < maxObjects {
		var one []byte
		one, text = cutDocument(text)
		d, plain := scan(one)
		if plain {
			m.add(d)
			continue
		}
		all, err := m.parse(one)
		if err != nil {
			return nil, err
		}
		for _, d := range all {
			m.add(d)
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
			// A document that begins behind the dashes: theirs is the line.
			return text[:at], text[at+len("---"):]
		}
		if end < 0 {
			break
		}
		at += end + 1
	}
	return text, nil
}

// add lists what a document is of, if it names anything that can exist.
func (m *manifest) add(d document) {
	group, _, ok := cutVersion(d.apiVersion)
	if !ok || !isName(d.kind) || !isName(d.name) || d.namespace != "" && !isName(d.namespace) || len(m.found) == maxObjects {
		return
	}
	if d.namespace == "" {
		d.namespace = m.namespace
	}
	m.found = append(m.found, [4]string{group, d.kind, d.namespace, d.name})
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

// isNameByte tells the bytes of names of groups, kinds and objects; those of
// RBAC have colons.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == ':' || c == '_'
}
