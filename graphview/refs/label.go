package refs

// The maximum lengths of a label's name, value and prefix.
const (
	maxLabel  = 63
	maxPrefix = 253
)

// isLabelKey reports whether a text is a valid label key: a name, or a domain, a slash and
// a name.
func isLabelKey(key string) bool {
	for i := range len(key) {
		if key[i] == '/' {
			return isDomain(key[:i]) && isLabelName(key[i+1:])
		}
	}
	return isLabelName(key)
}

// isLabelValue reports whether a text is a valid label value.
func isLabelValue(value string) bool { return value == "" || isLabelName(value) }

func isLabelName(name string) bool {
	if name == "" || len(name) > maxLabel || !isAlphanumeric(name[0]) || !isAlphanumeric(name[len(name)-1]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// isDomain reports whether a text is a DNS subdomain: words of lower-case letters, digits
// and dashes that neither begin nor end with a dash.
func isDomain(domain string) bool {
	if len(domain) > maxPrefix {
		return false
	}
	before := byte('.')
	for i := range len(domain) {
		c := domain[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
		case c == '-' && before != '.':
		case c == '.' && before != '.' && before != '-':
		default:
			return false
		}
		before = c
	}
	return before != '.' && before != '-'
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
