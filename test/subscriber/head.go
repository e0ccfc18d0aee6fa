package subscriber

import "github.com/go-json-experiment/json"

// Heading is what a message says of itself.
type Heading struct {
	Rev    string `json:"rev"`
	Synced bool   `json:"synced"`
	Reset  bool   `json:"reset"`
}

// Head reads the heading of a message without decoding what else is in it: a program that measures
// a server must not take its processor.
func Head(text []byte) (h Heading, err error) {
	err = json.Unmarshal(text, &h)
	return h, err
}
