package printable

import "testing"

func TestText(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"plain":                       {"web-0 ×2, été 日本 🙂", "web-0 ×2, été 日本 🙂"},
		"an escape sequence":          {"a\x1b[2Jb", "a�[2Jb"},
		"a C1 control character":      {"a\u009bb", "a�b"},
		"lines":                       {"a\nb\r\tc\u0085d", "a�b��c�d"},
		"separators of Unicode":       {"a\u2028b\u2029c", "a�b�c"},
		"a change of direction":       {"a\u202eb\u2066c", "a�b�c"},
		"characters without width":    {"a\u200bb\ufeffc\u00add", "a�b�c�d"},
		"tags":                        {"a\U000E0041b", "a�b"},
		"characters that XML has not": {"a\ufffeb\uffffc", "a�b�c"},
		"invalid UTF-8":               {"a\xffb\x9bc", "a�b�c"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Text(test.text); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
