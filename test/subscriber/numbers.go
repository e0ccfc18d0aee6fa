package subscriber

import (
	"bytes"
	"iter"
	"strconv"
)

// Numbers returns the numbers in a message that stand between a mark and a quotation mark, such as the numbers of
// changes in an annotation. Like Head it leaves the processor to a measured server.
func Numbers(text, mark []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for {
			_, after, ok := bytes.Cut(text, mark)
			if !ok {
				return
			}
			number, rest, ok := bytes.Cut(after, []byte(`"`))
			if !ok {
				return
			}
			text = rest
			if n, err := strconv.Atoi(string(number)); err == nil && !yield(n) {
				return
			}
		}
	}
}
