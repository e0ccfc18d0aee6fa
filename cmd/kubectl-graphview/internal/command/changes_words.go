package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"graphview.dev/client"
	"graphview.dev/cmd/kubectl-graphview/internal/outline"
	"graphview.dev/graphview/health"
	"graphview.dev/graphview/printable"
	"graphview.dev/graphview/wording"
)

// mostPaths is the number of fields that a line names.
const mostPaths = 2

// learnKinds keeps the kinds that an answer names, so that discovery is not asked for those.
func (k *kinds) learnKinds(answer *client.Changes) {
	learn := func(key client.Key, kind string) {
		if kind != "" {
			k.known[schema.GroupResource{Group: key.Group, Resource: key.Resource}] = kind
		}
	}
	for i := range answer.Changes {
		c := &answer.Changes[i]
		learn(c.Key, c.Kind)
		if c.Via != nil {
			learn(c.Via.Key, c.Via.Kind)
		}
		if c.Reference != nil {
			learn(c.Reference.To, c.Reference.Kind)
		}
	}
}

// cells are the columns of a line: its time, its objects, the change, and how the object of the question leads to them.
func (l *changeLine) cells(k *kinds) []string {
	return []string{clock(l.time()), l.objects(k), strings.Join(l.texts(k), ", "), leadText(k, l.changes[0].Via)}
}

// objects names the objects of a line.
func (l *changeLine) objects(k *kinds) string {
	var names []string
	for _, c := range l.changes {
		if name := k.name(c.Key); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	kind, _, _ := strings.Cut(names[0], "/")
	common := names[0]
	for _, name := range names[1:] {
		for !strings.HasPrefix(name, common) {
			common = common[:len(common)-1]
		}
	}
	if common = strings.TrimPrefix(common, kind+"/"); common == "" {
		common = strings.TrimPrefix(names[0], kind+"/") + ", "
	}
	return fmt.Sprintf("%s ×%d (%s…)", kind, len(names), strings.ToValidUTF8(common, ""))
}

// texts returns the changes of the objects of a line in words, the worst first.
func (l *changeLine) texts(k *kinds) []string {
	changes := l.atEnd()
	slices.SortStableFunc(changes, func(a, b *client.Change) int { return severityOf(b) - severityOf(a) })
	var texts []string
	for _, change := range changes {
		if text := changeText(k, change); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts[:min(len(texts), mostPaths)]
}

// changeText is a change in words.
func changeText(k *kinds, c *client.Change) string {
	var text string
	switch c.Type {
	case client.ChangeContent:
		text = pathsText(c)
	case client.ChangeReference:
		text = referenceText(k, c.Reference)
	default:
		text = healthText(c)
	}
	switch {
	case c.Times > 1 && c.First != nil:
		text += fmt.Sprintf(" (×%d since %s)", c.Times, clock(c.First.Time))
	case c.Earliest != nil:
		text += fmt.Sprintf(" (between %s and %s)", clock(c.Earliest.Time), clock(c.Time.Time))
	}
	return printable.Text(text)
}

// healthText describes the appearance, the disappearance or the health of an object.
func healthText(c *client.Change) string {
	var words []string
	if c.Type != client.ChangeHealth {
		words = append(words, string(c.Type))
	}
	if c.Health != nil && c.Type != client.ChangeRemoved && (c.Type == client.ChangeHealth || severityOf(c) > health.Unknown.Severity()) {
		word := cmp.Or(c.Health.To, string(health.Unknown))
		if c.Health.Why != "" && c.Health.Why != word {
			word += ": " + c.Health.Why
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// pathsText names the fields that changed, the ones with values first. It names fields that Kubernetes writes only if
// there are no others.
func pathsText(c *client.Change) string {
	if len(c.Paths) == 0 {
		return "changed while nothing was recorded"
	}
	paths := slices.DeleteFunc(slices.Clone(c.Paths), func(p client.ChangedPath) bool { return writtenByKubernetes(p.Path) })
	if len(paths) == 0 {
		paths = slices.Clone(c.Paths)
	}
	rank := func(p client.ChangedPath) int {
		if p.Before == nil && p.After == nil {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(paths, func(a, b client.ChangedPath) int { return rank(a) - rank(b) })
	var texts []string
	for _, p := range paths[:min(len(paths), mostPaths)] {
		switch {
		case p.Before != nil && p.After != nil:
			texts = append(texts, fmt.Sprintf("%s: %s → %s", p.Path, *p.Before, *p.After))
		case p.After != nil:
			texts = append(texts, fmt.Sprintf("%s: %s %s", p.Path, *p.After, p.Op))
		case p.Before != nil:
			texts = append(texts, fmt.Sprintf("%s: %s %s", p.Path, *p.Before, p.Op))
		default:
			texts = append(texts, p.Path+" "+p.Op)
		}
	}
	text := strings.Join(texts, ", ")
	if more := len(paths) - len(texts) + c.MorePaths; more > 0 {
		text += " and " + count(more, "more field")
	}
	return text
}

// referenceText is the change of a reference in words.
func referenceText(k *kinds, r *client.ReferenceChange) string {
	verb := outline.Verb(r.Type, client.Attributes{Words: r.Words})
	text := verb + " " + k.name(r.To)
	switch r.Change {
	case client.OpRemoved:
		return "no longer " + text
	case client.OpMissing:
		return text + ", which is missing"
	default:
		return "now " + text
	}
}

// leadText says how the object of the question leads to another one.
func leadText(k *kinds, via *client.ChangeVia) string {
	if via == nil {
		return ""
	}
	words := via.Words
	if len(words) == 0 {
		words = []string{wording.Owner}
	}
	word := words[0]
	if !via.Up {
		word = wording.Reversed(word)
	}
	return printable.Text(strings.TrimPrefix(word, "is ") + " " + k.name(via.Key))
}

// historyLines say from when on the history of an answer is complete, and where it has gaps.
func historyLines(answer *client.Changes) []string {
	lines := []string{"The history is complete since " + clock(answer.Since.Time) + "."}
	for _, gap := range answer.Gaps {
		lines = append(lines, printable.Text(fmt.Sprintf("Not recorded one by one from %s to %s: %s.", clock(gap.From.Time), clock(gap.Until.Time), strings.TrimSuffix(gap.Why, "."))))
	}
	if n := len(answer.Changes); answer.More && n > 0 {
		before := answer.Changes[n-1].Time.UTC().Format(time.RFC3339)
		lines = append(lines, "There are older changes: --until "+before+" shows them.")
	}
	return append(lines, answer.LeftOut...)
}
