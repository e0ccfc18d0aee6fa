package document

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrNoPlace: a document lacks a marker, or has them the other way round.
var ErrNoPlace = errors.New("there is no place for the text")

// Replace puts a text between two markers of a file, in place of what is there.
func Replace(path, begins, ends, text string) error {
	before, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	after, err := between(string(before), begins, ends, text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

// between replaces what is between the markers.
func between(document, begins, ends, text string) (string, error) {
	before, rest, ok := strings.Cut(document, begins)
	if !ok {
		return "", fmt.Errorf("%w: %s", ErrNoPlace, begins)
	}
	_, after, ok := strings.Cut(rest, ends)
	if !ok {
		return "", fmt.Errorf("%w: %s", ErrNoPlace, ends)
	}
	return before + begins + "\n" + text + ends + after, nil
}
