package subscriber

import "github.com/go-json-experiment/json"

// Heading has the members of a message beside its actions and warnings.
type Heading struct {
	Rev    string `json:"rev"`
	Synced bool   `json:"synced"`
	Reset  bool   `json:"reset"`
}

// Head decodes the heading of a message and skips the rest, so that a program that measures
// a server leaves it the processor.
func Head(text []byte) (h Heading, err error) {
	err = json.Unmarshal(text, &h)
	return h, err
}
