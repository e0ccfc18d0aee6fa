package expr

import (
	"math/bits"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A bound charges the meter for a call before the call. It returns an error if the call must not be
// made. The arguments may be of any type: the function itself reports wrong types.
type bound func(m *meter, arguments []ref.Val) *guardError

// boundText is for functions that read texts and return texts of about their size. CEL converts the
// texts to characters of four bytes.
func boundText(m *meter, arguments []ref.Val) *guardError {
	for _, argument := range arguments {
		n := textLength(argument)
		m.chargeRead(n)
		m.chargeAlloc(5 * n)
	}
	return nil
}

// boundReading is for functions that only read texts.
func boundReading(m *meter, arguments []ref.Val) *guardError {
	for _, argument := range arguments {
		m.chargeRead(textLength(argument))
	}
	return nil
}

// boundSlowText is for functions that check a text with built-in regular expressions.
func boundSlowText(m *meter, arguments []ref.Val) *guardError {
	for _, argument := range arguments {
		m.spend(textLength(argument))
	}
	return nil
}

// boundParsing is for functions that parse a number, a time, an address or the like. Valid texts are
// short, and some functions take time in the square of the length.
func boundParsing(m *meter, arguments []ref.Val) *guardError {
	for _, argument := range arguments {
		n := textLength(argument)
		if n > maxParsed {
			return refuse("the text is too long to be what it is converted to; at most %d bytes are allowed", maxParsed)
		}
		m.spend(10 + n)
	}
	return nil
}

// boundQuantity is boundParsing for quantities. It also bounds the exponent, since Kubernetes' parser
// writes out all the zeros of 1e999999999.
func boundQuantity(m *meter, arguments []ref.Val) *guardError {
	m.spend(100)
	text, _ := arguments[0].(types.String)
	if e := strings.LastIndexAny(string(text), "eE"); e >= 0 && len(strings.TrimLeft(string(text)[e+1:], "+-0")) > maxExponent {
		return refuse("the exponent of the quantity is too large; at most %d digits are allowed", maxExponent)
	}
	return boundParsing(m, arguments)
}

// boundZone is for functions of timestamps, which read a file if the call has a time zone.
func boundZone(m *meter, arguments []ref.Val) *guardError {
	if len(arguments) < 2 {
		return nil
	}
	m.spend(1_000)
	return boundParsing(m, arguments[1:])
}

// boundURL is for functions that return a part of a URL.
func boundURL(m *meter, _ []ref.Val) *guardError {
	m.chargeAlloc(4 * maxParsed)
	return nil
}

// boundOrder is for comparisons of two values that contain no other values.
func boundOrder(m *meter, arguments []ref.Val) *guardError {
	m.chargeRead(min(textLength(arguments[0]), textLength(arguments[1])))
	return nil
}

// boundAdding is for + with texts and lists.
func boundAdding(m *meter, arguments []ref.Val) *guardError {
	left, right := arguments[0], arguments[1]
	switch left.(type) {
	case types.String, types.Bytes:
		n := textLength(left) + textLength(right)
		if n > maxStringLength {
			return refuse("+ would make a string longer than %d bytes", maxStringLength)
		}
		m.chargeRead(n)
		m.chargeAlloc(n)
	case traits.MutableLister:
		// The result of a loop, which grows in place.
		m.chargeAlloc(2 * 16 * length(right))
	case traits.Lister:
		m.chargeAlloc(2 * 16 * (length(left) + length(right)))
	}
	return nil
}

// boundInserting is for the results of transformMap and transformMapEntry, maps that grow in place.
func boundInserting(m *meter, arguments []ref.Val) *guardError {
	if len(arguments) == 2 {
		m.chargeAlloc(2 * entryBytes * (1 + length(arguments[1])))
		return nil
	}
	m.chargeAlloc(2 * entryBytes)
	return checkKey(m, arguments[1])
}

// boundSplitting bounds text.split(separator).
func boundSplitting(m *meter, arguments []ref.Val) *guardError {
	text, _ := arguments[0].(types.String)
	separator, _ := arguments[1].(types.String)
	m.chargeRead(len(text))
	m.chargeAlloc(3 * 16 * (1 + strings.Count(string(text), string(separator))))
	return nil
}

// boundReplacing bounds the result of text.replace(old, new).
func boundReplacing(m *meter, arguments []ref.Val) *guardError {
	text, _ := arguments[0].(types.String)
	old, _ := arguments[1].(types.String)
	replacement, _ := arguments[2].(types.String)
	m.chargeRead(len(text) + len(old) + len(replacement))
	n := len(text) + strings.Count(string(text), string(old))*len(replacement)
	if n > maxStringLength {
		return refuse("replace() would make a string longer than %d bytes", maxStringLength)
	}
	m.chargeRead(n)
	m.chargeAlloc(2 * n)
	return nil
}

// boundJoining bounds the result of list.join(separator).
func boundJoining(m *meter, arguments []ref.Val) *guardError {
	separator := 0
	if len(arguments) > 1 {
		separator = textLength(arguments[1])
	}
	elements, ok := arguments[0].(traits.Lister)
	if !ok {
		return nil
	}
	m.chargeAlloc(2 * 16 * length(elements))
	n := 0
	for it := elements.Iterator(); it.HasNext() == types.True; {
		if n += textLength(it.Next()) + separator; n > maxStringLength {
			return refuse("join() would make a string longer than %d bytes", maxStringLength)
		}
	}
	m.chargeRead(n)
	m.chargeAlloc(3 * n)
	return nil
}

// boundFormatting bounds the result of text.format(list). A character may become an escape sequence of
// six characters, and a number may have a hundred digits before and after the point.
func boundFormatting(m *meter, arguments []ref.Val) *guardError {
	w, refused := partsOf(m, arguments[1])
	if refused != nil || w.text > maxStringLength {
		return refuse("format() would make a string longer than %d bytes", maxStringLength)
	}
	n := textLength(arguments[0]) + w.text
	m.chargeRead(n)
	format, _ := arguments[0].(types.String)
	m.chargeAlloc(8*n + 512*w.parts + floatBytes*floats(string(format)))
	return nil
}

// floatBytes is the memory for formatting one number with a fraction.
const floatBytes = 16 << 10

// floats returns the number of verbs in a format that write a fraction, such as %.3f.
func floats(format string) int {
	total := 0
	for _, verb := range strings.Split(format, "%")[1:] {
		if verb = strings.TrimLeft(verb, ".0123456789"); strings.HasPrefix(verb, "f") || strings.HasPrefix(verb, "e") {
			total++
		}
	}
	return total
}

// boundSearching is for functions that search one text in another, or compare each element of one
// list with each element of another.
func boundSearching(m *meter, arguments []ref.Val) *guardError {
	if left, ok := arguments[0].(types.String); ok {
		n := textLength(arguments[1])
		// CEL converts texts to characters before it searches them.
		m.chargeAlloc(5 * (len(left) + n))
		if len(left)*n > maxWork {
			return refuse("the arguments are too large to search one in the other")
		}
		m.spend(len(left) * n / 64)
		return nil
	}
	if !aggregate(arguments[0]) {
		return nil
	}
	a, refused := partsOf(m, arguments[0])
	if refused != nil {
		return refused
	}
	b, refused := partsOf(m, arguments[1])
	if refused != nil {
		return refused
	}
	sides := 1
	if aggregate(arguments[1]) {
		sides = max(length(arguments[1]), 1)
	}
	// A comparison of two elements reads no more than the smaller one.
	m.spend(2 * min(length(arguments[0])*b.size(), sides*a.size()))
	return nil
}

// boundFinding is for functions that search a text in another, or one element in a list.
func boundFinding(m *meter, arguments []ref.Val) *guardError {
	if _, text := arguments[0].(types.String); text {
		return boundSearching(m, arguments)
	}
	return boundIn(m, []ref.Val{arguments[1], arguments[0]})
}

// boundDistinct is boundSearching for a list and itself.
func boundDistinct(m *meter, arguments []ref.Val) *guardError {
	return boundSearching(m, []ref.Val{arguments[0], arguments[0]})
}

// boundContains is for functions that search one text in another in linear time.
func boundContains(m *meter, arguments []ref.Val) *guardError {
	m.chargeRead(2 * (textLength(arguments[0]) + textLength(arguments[1])))
	return nil
}

// boundIn is for a search for one value in a list or a map.
func boundIn(m *meter, arguments []ref.Val) *guardError {
	list, ok := arguments[1].(traits.Lister)
	if !ok {
		return checkKey(m, arguments[0])
	}
	w, refused := partsOf(m, arguments[0])
	if refused != nil {
		return refused
	}
	if !aggregate(arguments[0]) {
		m.spend(length(list) * (1 + w.text/bytesRead))
		return nil
	}
	whole, refused := partsOf(m, list)
	if refused != nil {
		return refused
	}
	m.spend(min(length(list)*w.size(), whole.size()))
	return nil
}

// boundComparing is for == and != of values that may contain other values.
func boundComparing(m *meter, arguments []ref.Val) *guardError {
	if !aggregate(arguments[0]) || !aggregate(arguments[1]) {
		return boundOrder(m, arguments)
	}
	for _, argument := range arguments {
		w, refused := partsOf(m, argument)
		if refused != nil {
			return refused
		}
		m.spend(w.size())
	}
	return nil
}

// boundElements is for functions that return a list with elements of another list.
func boundElements(m *meter, arguments []ref.Val) *guardError {
	if aggregate(arguments[0]) {
		m.chargeAlloc(4 * 16 * length(arguments[0]))
	}
	return nil
}

// boundSorting is for functions that compare the elements of lists with each other.
func boundSorting(m *meter, arguments []ref.Val) *guardError {
	for _, argument := range arguments {
		list, ok := argument.(traits.Lister)
		if !ok {
			continue
		}
		n := length(list)
		m.chargeAlloc(4 * 16 * n)
		times := bits.Len(uint(n))
		for it := list.Iterator(); it.HasNext() == types.True; {
			m.spend(times * (2 + textLength(it.Next())/bytesRead))
		}
	}
	return nil
}

// boundFlattening is for list.flatten(depth), which copies an element once for each list around it.
func boundFlattening(m *meter, arguments []ref.Val) *guardError {
	w, refused := partsOf(m, arguments[0])
	if refused != nil {
		return refused
	}
	m.chargeAlloc(2 * 16 * w.parts * max(w.depth, 1))
	return nil
}

// boundRange is for lists.range(n).
func boundRange(m *meter, arguments []ref.Val) *guardError {
	if n, ok := arguments[0].(types.Int); ok && n > 0 {
		m.chargeAlloc(2 * 16 * int(min(n, maxRange)))
	}
	return nil
}
