package refs

import (
	"slices"
	"strings"
)

// doubts are words by which a description says that a value is more or less than a
// name, or the name of what is elsewhere.
var doubts = []string{
	"prefix", "suffix", "append", "generate", "template", "vault", "aws", "amazon", "azure", "google", "gcp", "secret manager", "secrets manager", "remote cluster",
	"expression", "wildcard", "regex", "pattern", "glob", "identifier", "declaration",
}

// isIdentifier tells a description of a word that is declared elsewhere, whatever the key
// says.
func isIdentifier(description string) bool {
	return opensWith(description, "identifier", "declaration")
}

func isDoubtfulText(description string) bool { return opensWith(description, doubts...) }

// isMade tells a description of what the object has made for it, of which the name is
// given: it need not be an object of the cluster.
func isMade(description string) bool {
	return opensWith(description, "be created", "be generated", "to create", "will create", "is created")
}

// isAlias tells a description of a word by which a text elsewhere in the object, or in
// what is configured, speaks of something.
func isAlias(description string) bool {
	return opensWith(description, "alias") && !opensWith(description, "deprecated")
}

// opensWith tells whether one of these words is in the first sentence of a description.
func opensWith(description string, words ...string) bool {
	first, _, _ := strings.Cut(description[:min(len(description), MaxDescription)], ". ")
	first, _, _ = strings.Cut(first, ".\n")
	lower := strings.ToLower(first)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(lower, word) })
}

// outside is the word for what is not in the cluster: an external cluster is no Cluster
// there. Secrets and other kinds of Kubernetes are called so if somebody else made them.
const outside = "external"

// speaksOfOthers tells whether words speak of a kind of a project's own that is not in
// the cluster.
func (s *Served) speaksOfOthers(group string, words []string) bool {
	for i, word := range words {
		if !strings.EqualFold(word, outside) || i+1 == len(words) {
			continue
		}
		if _, whole := s.kindAt(group, words, i); whole > 0 { // ExternalMariaDB
			continue
		}
		if found, n := s.kindAt(group, words, i+1); n > 0 && !settled[found[0].To.Group] {
			return true
		}
	}
	return false
}

// isDefault tells whether a name is spoken of as that which is used where a field is not
// set: "the cluster name is used if this is omitted", "defaults to the name of the …".
func isDefault(words []string, at int) bool {
	if after := words[at+1:]; len(after) > 2 && (after[0] == "is" || after[0] == "will") {
		used := slices.Index(after[:min(len(after), 3)], "used")
		if used > 0 && used+1 < len(after) {
			switch after[used+1] {
			case "if", "when", "by", "as", "unless":
				return true
			}
		}
	}
	for i := at - 1; i >= 0 && words[i] != stop; i-- {
		switch strings.ToLower(words[i]) {
		case "defaults", "defaulted":
			return true
		}
	}
	return false
}
