package command

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"graphview.dev/graphview/advice"
)

// flagError is the error for flags that cannot be parsed.
func (c *cli) flagError(cmd *cobra.Command, err error) error {
	if words := plainWords(cmd, c.args); !cmd.HasParent() && len(words) > 0 {
		return c.unknownCommand(cmd, words[0])
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return c.wrongValue(cmd, invalid)
	}
	if needs, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		flag := needs.GetFlag()
		return usagef(cmd, "--%s needs a value: %s", flag.Name, strings.ToLower(flag.Usage[:1])+flag.Usage[1:])
	}
	wrong := usagef(cmd, "%w", err)
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return wrong
	}
	name := unknown.GetSpecifiedName()
	if having := commandsWith(cmd, name); len(having) > 0 {
		return c.flagOfOthers(cmd, name, having)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := advice.Nearest(name, names, 1); len(near) > 0 && len(name) > 1 {
		return c.replaced(usagef(cmd, "unknown flag --%s; did you mean --%s?", name, near[0]), "--"+name, "--"+near[0])
	}
	return wrong
}

// commandsWith returns the other commands that have a flag: first the commands that show a whole graph.
func commandsWith(cmd *cobra.Command, flag string) []string {
	var having []string
	for _, other := range cmd.Root().Commands() {
		if len(flag) > 1 && !other.Hidden && other.LocalNonPersistentFlags().Lookup(flag) != nil {
			having = append(having, other.Name())
		}
	}
	slices.SortStableFunc(having, func(a, b string) int { return whole(b) - whole(a) })
	return having
}

// whole ranks the commands that show a graph whole, and so need no object. It is 0 for others.
func whole(command string) int {
	ranked := []string{"query", "problems", "tree"}
	return 1 + slices.Index(ranked, command)
}

// flagOfOthers is the error for a flag that a command lacks and others have.
func (c *cli) flagOfOthers(cmd *cobra.Command, name string, having []string) error {
	err := usagef(cmd, "%s has no --%s; see %s", cmd.Name(), name, strings.Join(having[:min(len(having), mostSimilar)], ", "))
	flag, _, _ := cmd.Root().Find(having[:1])
	if whole(having[0]) == 0 || flag.Flags().Lookup(name).NoOptDefVal == "" && slices.Index(c.args, "--"+name) == len(c.args)-1 {
		return err
	}
	return c.replaced(err, cmd.Name(), having[0])
}

// wrongValue is the error for a value of a flag.
func (c *cli) wrongValue(cmd *cobra.Command, invalid *pflag.InvalidValueError) error {
	flag, given := invalid.GetFlag(), invalid.GetValue()
	better := flag.DefValue
	var expected string
	switch flag.Value.Type() {
	case "bool":
		expected, better = "true or false", "true"
		if slices.Contains([]string{"n", "no", "not", "off", "none", "never"}, strings.ToLower(given)) {
			better = "false"
		}
	case "int":
		expected = "a number"
	case "duration":
		expected = "a duration such as 30s"
		if strings.Trim(given, "0123456789") == "" && given != "" {
			better = given + "s"
		}
	case "time":
		expected, better = expectedMoment, "2h"
		if strings.Trim(given, "0123456789") == "" && given != "" {
			better = given + "h"
		}
		if flag.Name == "at" { // the history may not go back to a time that is proposed
			return usagef(cmd, "--at %s: expected %s", given, expected)
		}
	default:
		return usagef(cmd, "%w", invalid)
	}
	return c.replaced(usagef(cmd, "--%s %s: expected %s", flag.Name, given, expected), given, better)
}

// singleDash returns the error for a long flag with one dash, which is otherwise read as a short flag with a value.
func (c *cli) singleDash(cmd *cobra.Command) error {
	for _, word := range c.args {
		name, isFlag := strings.CutPrefix(word, "-")
		name, _, _ = strings.Cut(name, "=")
		if word == "--" {
			return nil
		}
		if isFlag && len(name) > 1 && cmd.Flag(name) != nil {
			return c.replaced(usagef(cmd, "-%s is read as short flags: the long one is --%[1]s", name), word, "-"+word)
		}
	}
	return nil
}

// asFrom adds to an error about the value of -f the command line with --from in place of it.
func (c *cli) asFrom(cmd *cobra.Command, err error, file string) error {
	if cmd.Flags().Lookup("from") == nil {
		return err
	}
	var words []string
	for _, word := range c.args {
		switch word {
		case "-f", "--filename":
			words = append(words, "--from")
		case "-f" + file, "-f=" + file, "--filename=" + file:
			words = append(words, "--from", file)
		case "--local", "--local=true":
		default:
			words = append(words, word)
		}
	}
	return typed(err, words)
}
