package mine

import (
	"regexp"
	"strings"
)

// refers finds the words by which descriptions say that a field is a reference.
var refers = regexp.MustCompile(`(?i)\b(names?|references?|refers?|referenced|referring|referent|points?|pointer|select(s|ed|or)?|uses?|used|contain(s|ing)?|existing|defined|resource|object)\b`)

// mentions tells whether a description speaks of a kind: as the kind is written, or in
// words.
func mentions(description string, d *definition) bool {
	if description == "" {
		return false
	}
	name := d.kind.Name
	if hasWord(description, name) || hasWord(description, name+"s") {
		return len(d.words) > 1 || refers.MatchString(description)
	}
	spaced := strings.Join(d.words, " ")
	low := strings.ToLower(description)
	return (hasWord(low, spaced) || hasWord(low, spaced+"s")) && refers.MatchString(description)
}

func hasWord(text, word string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(word)
		if (at == 0 || !isLetter(text[at-1])) && (end == len(text) || !isLetter(text[end])) {
			return true
		}
		from = end
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// nameOf finds of which kind a description says that the field has the name of one:
// "the name of the Kubernetes Secret that …".
var nameOf = regexp.MustCompile("(?i)\\b(?:names? of|reference to|refers to|references)\\s+(?:(?:the|a|an|existing|kubernetes|k8s|this|target|core/v1|v1|referenced|corresponding|namespaced|custom)\\s+)*[`'\"]?([A-Za-z]+(?: [A-Za-z]+){0,3})[`'\"]?(.?)")

// after are the words that may follow a kind in a description. Another one makes it a
// part of something else: the name of the Service port.
var after = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`that which in to from for containing contains used with where object objects resource resources of on must is are this and or
		storing holding holds whose by cr instance instances as should will can the a referenced it if when being inside within at`) {
		set[word] = true
	}
	return set
}()

// described returns the kind of which a description says that a field has the name.
func (k *Kinds) described(description, group string) *definition {
	if description == "" {
		return nil
	}
	found := nameOf.FindStringSubmatch(description)
	if found == nil {
		return nil
	}
	words := strings.Fields(found[1])
	for n := len(words); n > 0; n-- {
		if n < len(words) && !after[strings.ToLower(words[n])] {
			continue
		}
		joined := strings.ToLower(strings.Join(words[:n], ""))
		for _, name := range []string{joined, singular(joined)} {
			if d := k.spoken(name, group); d != nil {
				return d
			}
		}
	}
	return nil
}

// spoken returns the kind of the group, or of Kubernetes, that a word says.
func (k *Kinds) spoken(word, group string) *definition {
	var core *definition
	for _, d := range k.inWords(word) {
		if d.kind.Group == group {
			return d
		}
		if d.builtin && d.kind.Group != "extensions" {
			core = d
		}
	}
	return core
}

func (k *Kinds) inWords(word string) []*definition {
	if k.byWord == nil {
		k.byWord = map[string][]*definition{}
		for _, d := range k.all {
			joined := strings.Join(d.words, "")
			k.byWord[joined] = append(k.byWord[joined], d)
		}
	}
	return k.byWord[word]
}
