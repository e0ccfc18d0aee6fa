package refs

import (
	"strings"

	"graphview.dev/graphview/graph"
)

// maxSpoken is how many words of a description are looked at, maxNaming how many of them
// that introduce a kind, and maxPhrase how many may stand between "name of" and the kind.
const (
	maxSpoken = 160
	maxNaming = 8
	maxPhrase = 7
)

// spoken returns the kinds whose name a description says that a field holds: "name of
// the Secret", "reference to a Kafka or KafkaConnect", "Secret containing the token".
func (s *Served) spoken(group, description string) []graph.Reference {
	words := spokenWords(description)
	if s.speaksOfOthers(group, words) {
		return nil
	}
	naming := 0
	for i, word := range words {
		var found []graph.Reference
		if isNaming(word) || isReferring(word) {
			if naming++; naming > maxNaming {
				return nil
			}
			if isDefault(words, i) {
				continue
			}
		}
		switch {
		case i == 0:
			found = s.opening(group, words)
		case isNaming(word):
			found = s.before(group, words, i)
		}
		if found == nil && (isNaming(word) || isReferring(word)) {
			found = s.phrase(group, words, afterNaming(words, i))
		}
		if len(found) > 0 && namesakes(found) <= maxNamesakes {
			return found
		}
	}
	return nil
}

// selected returns the kinds of the group of which a description says that a selector
// selects them.
func (s *Served) selected(group, description string) []graph.Reference {
	words := spokenWords(description)
	for i, word := range words {
		lower := strings.ToLower(word)
		if !strings.HasPrefix(lower, "select") && !strings.HasPrefix(lower, "match") {
			continue
		}
		for j := i + 1; j < len(words) && j <= i+maxPhrase && words[j] != stop; j++ {
			if words[j] == "this" || words[j] == "by" {
				break // what belongs to one of the kind, which is not selected itself
			}
			if found := s.groups[group].named(strings.ToLower(words[j])); isCapital(words[j]) && len(found) == 1 {
				return s.first(found)
			}
			if one := singular([]string{strings.ToLower(words[j])}); one != nil && isCapital(words[j]) {
				if found := s.groups[group].named(one[0]); len(found) == 1 {
					return s.first(found)
				}
			}
		}
	}
	return nil
}

// opening is what a description begins with: "The Secret containing …".
func (s *Served) opening(group string, words []string) []graph.Reference {
	i := 0
	if len(words) > 1 && isVerb(strings.ToLower(words[1])) { // "SecretRef is the …"
		i = 2
	}
	for i < len(words) && isArticle(strings.ToLower(words[i])) {
		i++
	}
	found, n := s.kindAt(group, words, i)
	if n == 0 || i+n >= len(words) {
		return nil
	}
	switch strings.ToLower(words[i+n]) {
	case "containing", "contains", "holding", "with", "that", "which", "storing", "where", "used", "to", "from", "name", "names", "reference", "resource", "object":
		return found
	}
	return nil
}

// before is the kind that a word is preceded by: "the Secret name".
func (s *Served) before(group string, words []string, at int) []graph.Reference {
	for n := min(3, at); n > 0; n-- {
		if found, used := s.kindAt(group, words[:at], at-n); used == n {
			if at > n && isNegation(words[at-n-1]) {
				return nil
			}
			return found
		}
	}
	return nil
}

// afterNaming is where the phrase after a word such as name begins, len(words) if none
// does.
func afterNaming(words []string, at int) int {
	next := at + 1
	if next < len(words) && words[next] == "s" { // name(s)
		next++
	}
	if next >= len(words) {
		return len(words)
	}
	switch strings.ToLower(words[next]) {
	case "of", "to", "for":
		return next + 1
	}
	if isReferring(words[at]) {
		return next
	}
	return len(words)
}

// phrase returns the kinds that a noun phrase is about, with those after an or.
func (s *Served) phrase(group string, words []string, from int) []graph.Reference {
	var all []graph.Reference
	for i := from; i < len(words) && i < from+maxPhrase; i++ {
		if word := strings.ToLower(words[i]); word == "this" || word == "each" {
			return all // its own name, not that of another object
		}
		found, n := s.kindAt(group, words, i)
		if n == 0 {
			if word := strings.ToLower(words[i]); isEnd(word) {
				return all
			}
			continue
		}
		if !endsNoun(words, i+n) {
			continue
		}
		all = union(all, found)
		i += n - 1
		if i+1 < len(words) && isOr(words[i+1]) {
			i++
			from = i
			continue
		}
		return all
	}
	return all
}

// kindAt returns the kind that one to three words name, and how many.
func (s *Served) kindAt(group string, words []string, at int) ([]graph.Reference, int) {
	for n := min(3, len(words)-at); n > 0; n-- {
		var joined []string
		for _, word := range words[at : at+n] {
			if word == stop || isEnd(strings.ToLower(word)) {
				joined = nil
				break
			}
			joined = append(joined, wordsOf(word)...)
		}
		if len(joined) == 0 {
			continue
		}
		if found := s.spokenKind(group, joined, isCapital(words[at])); found != nil {
			return found, n
		}
	}
	return nil, 0
}

// spokenKind looks words up as keys are, but never by a part of them.
func (s *Served) spokenKind(group string, words []string, capital bool) []graph.Reference {
	if s == nil {
		return nil
	}
	for _, form := range [...][]string{words, singular(words)} {
		if form == nil {
			continue
		}
		word := strings.Join(form, "")
		own, near := s.groups[group], s.domains[domainOf(group)]
		if isVague(word) && !capital {
			continue
		}
		if found := s.first(own.named(word)); found != nil {
			return found
		}
		if target, ok := commonWords[word]; ok && word != "credential" && word != "credentials" && word != "claim" && !strings.HasSuffix(group, external) {
			return []graph.Reference{target}
		}
		if found := s.first(near.named(word)); found != nil {
			return found
		}
		if found := s.first(own.endsIn(word)); found != nil && capital {
			return found
		}
	}
	return nil
}

// stop stands for what ends a sentence or a clause.
const stop = "."

// spokenWords are the words of the beginning of a description.
func spokenWords(text string) []string {
	text = text[:min(len(text), MaxDescription)]
	words := make([]string, 0, 32)
	start := -1
	for i := 0; i <= len(text) && len(words) < maxSpoken; i++ {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		if isAlphanumeric(c) || c == '_' || c == '-' || c == '\'' && start >= 0 {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			words, start = append(words, text[start:i]), -1
		}
		switch c {
		case '.', ';', ':', ',', '\n', '(', ')', '{', '[':
			if len(words) > 0 && words[len(words)-1] != stop && (c != '(' || !strings.HasPrefix(text[i:], "(s)")) && (c != '.' || i+1 == len(text) || !isAlphanumeric(text[i+1])) {
				words = append(words, stop)
			}
		}
	}
	return words
}

func isCapital(word string) bool { return isUpper(word[0]) }

func isNaming(word string) bool {
	switch strings.ToLower(word) {
	case "name", "names", "reference", "references", "ref", "refs", "pointer":
		return true
	}
	return false
}

func isReferring(word string) bool {
	switch strings.ToLower(word) {
	case "references", "refers", "referencing", "refer", "points", "identifies":
		return true
	}
	return false
}

func isNegation(word string) bool {
	switch strings.ToLower(word) {
	case "no", "without":
		return true
	}
	return false
}

func isVerb(word string) bool {
	switch word {
	case "is", "are", "specifies", "defines", "contains", "references", "holds", "names", "sets", "indicates", "identifies":
		return true
	}
	return false
}

func isArticle(word string) bool {
	switch word {
	case "the", "a", "an", "optional", "existing", "kubernetes", "k8s":
		return true
	}
	return false
}

// isEnd tells a word that ends a noun phrase.
func isEnd(word string) bool {
	switch word {
	case stop, "of", "in", "within", "inside", "that", "which", "containing", "contains", "holding", "holds", "used", "from", "on", "for", "with", "whose",
		"when", "if", "is", "are", "must", "should", "will", "can", "to", "storing", "where", "and", "under", "by", "as", "at", "be", "has":
		return true
	}
	return false
}

func isOr(word string) bool {
	switch strings.ToLower(word) {
	case "or", "and":
		return true
	}
	return false
}

// endsNoun tells whether a noun that ends before a word is the phrase's: the secret
// key is no Secret.
func endsNoun(words []string, at int) bool {
	if at >= len(words) {
		return true
	}
	switch word := strings.ToLower(words[at]); word {
	case "resource", "resources", "object", "objects", "instance", "instances", "cr", "custom", "cluster", "clusters", "or", "this", "you", "we", "it", "the", "name",
		"belonging", "reference", "crd":
		return true
	default:
		return isEnd(word) || len(word) > len("need") && strings.HasSuffix(word, "ed") // created, located
	}
}

// isVague tells words that descriptions use for anything, whatever kinds there are.
func isVague(word string) bool {
	switch word {
	case "object", "resource", "template", "instance", "name", "type", "kind", "group", "project", "provider", "server", "user", "role", "policy", "rule", "key", "field":
		return true
	}
	return false
}
