package command

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"graphview.dev/graphview/advice"
)

// correction is an error with the command that would work.
type correction struct {
	error

	try string
}

func (e *correction) Unwrap() error { return e.error }

// correct adds the command to type to an error: that of cmd with other arguments, or without cmd the words as they are. The
// flags that say where to look are kept.
func (c *cli) correct(err error, cmd *cobra.Command, words []string) error {
	all := []string{"kubectl", "graphview"}
	if cmd != nil {
		all = append(all, cmd.Name())
	}
	all = append(all, words...)
	for _, flag := range []struct {
		name  string
		value *string
	}{{"-n", c.config.Namespace}, {"--context", c.config.Context}, {"--kubeconfig", c.config.KubeConfig}, {"--server", c.config.APIServer}, {"--link", &c.link}} {
		if flag.value != nil && *flag.value != "" {
			value, _, _ := strings.Cut(*flag.value, ",") // one of several namespaces
			all = append(all, flag.name, quoted(value))
		}
	}
	return &correction{error: err, try: strings.Join(all, " ")}
}

// quoted is a word of a shell.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@+%") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// replaced adds to an error the command line as it was typed, with another word in place of one. A word KIND/NAME may have
// been two.
func (c *cli) replaced(err error, old, word string) error {
	words := slices.Clone(c.args)
	oldKind, oldName, _ := strings.Cut(old, "/")
	kind, name, _ := strings.Cut(word, "/")
	at := slices.IndexFunc(words, func(w string) bool { return w == old || strings.HasPrefix(w, old+"=") || strings.HasSuffix(w, "="+old) })
	if at >= 0 {
		words[at] = strings.Replace(words[at], old, word, 1)
	} else if at = slices.Index(words, oldKind); oldName != "" && at >= 0 && at+1 < len(words) && words[at+1] == oldName {
		words[at], words[at+1] = kind, name
		if name == "" {
			words = slices.Delete(words, at+1, at+2)
		}
	} else {
		return err
	}
	return typed(err, words)
}

// typed adds a whole command line to an error.
func typed(err error, words []string) error {
	all := []string{"kubectl", "graphview"}
	for _, word := range words {
		all = append(all, quoted(word))
	}
	return &correction{error: err, try: strings.Join(all, " ")}
}

// wrongOutput is the error for a value of -o.
func (c *cli) wrongOutput(cmd *cobra.Command, given string, outputs []string) error {
	err := usagef(cmd, "-o %s: expected one of %s", given, strings.Join(outputs, ", "))
	near := advice.Nearest(given, outputs, 1)
	if len(near) == 0 {
		near = outputs
	}
	for _, flag := range []string{given, "-o" + given} {
		if slices.ContainsFunc(c.args, func(w string) bool { return w == flag || strings.HasSuffix(w, "="+flag) }) {
			return c.replaced(err, flag, strings.TrimSuffix(flag, given)+near[0])
		}
	}
	return err
}

// unknownCommand is the error for a command that does not exist.
func (c *cli) unknownCommand(root *cobra.Command, name string) error {
	err := usagef(root, "there is no command %q", name)
	near := root.SuggestionsFor(name)
	if len(near) == 0 {
		return err
	}
	err = c.replaced(err, name, near[0])
	if better, ok := errors.AsType[*correction](err); ok && near[0] == "export" {
		better.try = strings.ReplaceAll(better.try, " --print", "") // of its former name, install
	}
	return err
}

// plainWords are the words of a command line that are no flags of a command, and no values of these.
func plainWords(cmd *cobra.Command, args []string) []string {
	var words []string
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "-")
		if !isFlag {
			words = append(words, args[i])
			continue
		}
		flag := cmd.PersistentFlags().Lookup(strings.TrimPrefix(name, "-"))
		if len(name) == 1 {
			flag = cmd.PersistentFlags().ShorthandLookup(name)
		}
		if flag != nil && flag.NoOptDefVal == "" {
			i++
		}
	}
	return words
}
