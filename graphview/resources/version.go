package resources

import (
	"cmp"
	"strings"
)

// CompareVersions orders versions from the least to the most wanted: unstable
// before stable ones (v and a number), each in natural order. So v1alpha1 <
// v1beta1 < v1beta2 < v1beta10 < v2alpha1 < v1 < v2 < v10. Among unstable
// versions the number counts before the level: v2alpha1 is newer than v1beta1.
func CompareVersions(a, b string) int {
	if sa, sb := stable(a), stable(b); sa != sb {
		if sa {
			return 1
		}
		return -1
	}
	return compareNatural(a, b)
}

// stable matches ^v\d+$.
func stable(version string) bool {
	number, ok := strings.CutPrefix(version, "v")
	return ok && number != "" && digits(number) == len(number)
}

// compareNatural compares strings byte by byte, except that a run of digits
// compares as the number it is, whatever its length. Strings that differ in
// leading zeros alone compare as strings, which makes the order total.
func compareNatural(a, b string) int {
	for x, y := a, b; ; {
		switch {
		case x == "" || y == "":
			return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
		case digits(x) > 0 && digits(y) > 0:
			n, m := digits(x), digits(y)
			if c := compareNumbers(x[:n], y[:m]); c != 0 {
				return c
			}
			x, y = x[n:], y[m:]
		case x[0] != y[0]:
			return cmp.Compare(x[0], y[0])
		default:
			x, y = x[1:], y[1:]
		}
	}
}

func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// digits counts the decimal digits that s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
