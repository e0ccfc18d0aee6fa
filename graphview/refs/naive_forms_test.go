package refs

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"graphview.dev/graphview/graph"
)

var namespaceForm = regexp.MustCompile(`^[a-z0-9-]*$`)

var naiveLabels = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// naiveAddresses reads addresses with one regular expression.
func naiveAddresses(ref graph.Reference, own, text string) []graph.Reference {
	form := regexp.MustCompile(`^(?P<scheme>.*?://)?(?:[^/?#@]*@)?(?P<host>[a-z0-9.-]+?)(?:\.cluster\.local)?\.?(?P<port>:[0-9]{1,5})?(?:[/?#].*)?$`)
	numbered := regexp.MustCompile(`.-[0-9]{1,5}$`)
	label := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	var out []graph.Reference
	if len(text) > 1024 {
		return nil
	}
	left := 8
	for _, one := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",= \"'\n", r) }) {
		m := form.FindStringSubmatch(one)
		if m == nil {
			continue
		}
		called := m[1] != "" || m[3] != ""
		labels := strings.Split(m[2], ".")
		wrong := false
		for _, l := range labels {
			wrong = wrong || !label.MatchString(l)
		}
		svc := len(labels) > 1 && labels[len(labels)-1] == "svc"
		if svc {
			labels = labels[:len(labels)-1]
		}
		last := labels[len(labels)-1]
		if wrong || len(labels) > 3 || !svc && slices.Contains([]string{"com", "io", "net", "org"}, last) {
			continue
		}
		var found [][2]string
		switch {
		case len(labels) == 1 && (svc || called):
			found = [][2]string{{own, labels[0]}}
		case svc:
			found = [][2]string{{last, labels[len(labels)-2]}}
		case len(labels) == 2:
			found = [][2]string{{labels[0+1], labels[0]}}
			if numbered.MatchString(labels[0]) {
				found = append(found, [2]string{own, labels[1]})
			}
		case len(labels) == 3 && called:
			found = [][2]string{{labels[2], labels[1]}}
		}
		if len(found) > 0 {
			left--
		}
		if left < 0 {
			break
		}
		for _, f := range found {
			if f[0] != "" {
				ref := ref
				ref.Namespace, ref.Name = f[0], f[1]
				ref.To, ref.Optional = graph.Kind{Kind: "Service"}, true
				if ref.Inferred = !svc || len(labels) == 1; svc && len(labels) > 1 {
					ref.Field = strings.TrimPrefix(ref.Field, graph.InferredField)
				}
				out = append(out, ref)
			}
		}
	}
	return out
}

var entryForm = regexp.MustCompile(`^([^_]*)_(.+)_([^_]*)_([^_]+)$`)

func naiveEntry(ref *graph.Reference, id string) bool {
	m := entryForm.FindStringSubmatch(id)
	if len(m) == 0 || strings.Contains(strings.ReplaceAll(m[2], "__", ":"), "_") {
		return false
	}
	ref.Namespace, ref.Name = m[1], strings.ReplaceAll(m[2], "__", ":")
	ref.To, ref.Scope = graph.Kind{Group: m[3], Kind: m[4]}, graph.ScopeNamespaced
	if m[1] == "" {
		ref.Scope = graph.ScopeCluster
	}
	return true
}

func naiveApplication(rule *Rule, text string) []graph.Reference {
	var app struct {
		LabelKey, LabelValue string
		UsedGKs              []graph.Kind
	}
	if json.Unmarshal([]byte(text), &app) != nil {
		return nil
	}
	selector := labelSelector(map[string]any{"matchLabels": map[string]any{app.LabelKey: app.LabelValue}})
	if app.LabelValue == "" || selector == nil {
		return nil
	}
	var out []graph.Reference
	for _, to := range app.UsedGKs {
		if to.Kind != "" {
			out = append(out, graph.Reference{
				Type: max(rule.Type, graph.Direct), To: to, Selector: selector, AllNamespaces: true, Field: rule.Path,
			})
		}
	}
	return out
}

func naiveHolds(condition string, look func(string) any) bool {
	for alternative := range strings.SplitSeq(condition, ",") {
		field, value, hasValue := strings.Cut(alternative, ":")
		found := look(field)
		list, isList := found.([]any)
		if !isList {
			list = []any{found}
		}
		if !hasValue && found != nil {
			return true
		}
		for _, element := range list {
			if text, isText := element.(string); hasValue && (isText && text == value || element == true && value == "true" || element == false && value == "false") {
				return true
			}
		}
	}
	return false
}

// naiveName applies what a rule says of names, with regular expressions.
func naiveName(rule *Rule, ref *graph.Reference, look func(string) any) bool {
	if slices.Contains(rule.Except, ref.Name) && ref.Selector == nil {
		return false
	}
	if rule.As != "" {
		found := false
		for form := range strings.SplitSeq(rule.As, "|") {
			form = regexp.QuoteMeta(form)
			for word, class := range map[string]string{
				`\{name\}`: `(?P<name>[a-z0-9.-]+?)`, `\{label\}`: `(?P<name>[a-z0-9-]+?)`, `\{ns\}`: `(?P<ns>[a-z0-9-]+?)`, `\{\*\}`: `(?s:.*?)`,
			} {
				form = strings.ReplaceAll(form, word, class)
			}
			expression := regexp.MustCompile(`\A` + form + `\z`)
			m := expression.FindStringSubmatch(ref.Name)
			if m == nil {
				continue
			}
			if at := expression.SubexpIndex("ns"); at >= 0 {
				ref.Namespace = m[at]
			}
			ref.Name, found = m[expression.SubexpIndex("name")], true
			break
		}
		if !found {
			return false
		}
	}
	if rule.Named == "" {
		return true
	}
	name := strings.ReplaceAll(rule.Named, "{}", ref.Name)
	for _, field := range regexp.MustCompile(`\{([^{}]+)\}`).FindAllStringSubmatch(rule.Named, -1) {
		value := look(field[1])
		text, isText := value.(string)
		if number, isNumber := value.(float64); isNumber {
			text, isText = strconv.Itoa(int(number)), true
		}
		if !isText || text == "" {
			return false
		}
		name = strings.ReplaceAll(name, field[0], text)
	}
	ref.Name = name
	return true
}
