package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/internal/term"
)

// codesPage is what docs/lumigl.md says of faults and docs/convert.md of losses. The tests hold it to that, and write it
// with -update.
//
//go:embed codes.md
var codesPage string

// explanation is what a code means. A code of a fault may be that of a loss too.
type explanation struct {
	Code  string `json:"code"`
	About string `json:"about"` // "fault" or "loss"
	// Group is the heading that the code stands under.
	Group string `json:"group"`
	Text  string `json:"text"`
}

// The groups of losses, by what the table of them says.
var lossGroups = map[string]string{
	"lost":    "What 'lumi convert' names as lost",
	"changed": "What 'lumi convert' names as changed",
}

func explainCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE...]",
		Short: "say what the codes of faults and losses mean",
		Long: `CODE is what stands in brackets behind a fault, which a file has, or behind a loss, which 'lumi convert'
names. It prints the rule, with an example that breaks it and one that does not. Where a fault and a
loss have the same code, it prints both. Without an argument it lists all codes.

With --json, each is an object on a line of its own, with "code", "about", which is "fault" or "loss",
"group" and "text".`,
		Annotations: exits("all codes are explained", "", elseFailed),
		Example: examples(
			"What does [dangling] mean?", "lumi explain dangling",
			"Which codes are there?", "lumi explain",
		),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codeNames(explanations()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(*cobra.Command, []string) error { return explain(env) },
	}
}

// explain prints what some codes mean, or lists all of them.
func explain(env *environment) error {
	all := explanations()
	chosen := all
	if len(env.args) > 0 {
		chosen = nil
	}
	for _, arg := range env.args {
		code := strings.ToLower(strings.Trim(arg, "[]"))
		before := len(chosen)
		for _, e := range all {
			if e.Code == code {
				chosen = append(chosen, e)
			}
		}
		if len(chosen) == before {
			hint := "'lumi explain' lists all codes"
			if near := suggest.Name(code, codeNames(all)); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return fmt.Errorf("there is no code %q; %s", arg, hint)
		}
	}
	if env.json {
		for _, e := range chosen {
			if err := env.printJSON(e); err != nil {
				return err
			}
		}
		return nil
	}
	if len(env.args) == 0 {
		listCodes(env, all)
		return nil
	}
	for i, e := range chosen {
		if i > 0 {
			env.printf("\n")
		}
		env.printf("%s %s\n\n%s", env.out.Paint(term.Bold, e.Code), env.out.Paint(term.Dim, "("+e.Group+")"), e.Text)
	}
	return nil
}

// listCodes prints all codes under their headings.
func listCodes(env *environment, all []explanation) {
	group := ""
	for _, e := range all {
		if e.Group != group {
			if group != "" {
				env.printf("\n")
			}
			group = e.Group
			env.printf("%s:\n", env.out.Paint(term.Bold, group))
		}
		env.printf("    %s\n", e.Code)
	}
	env.printf("\n'lumi explain CODE' says what a code means.\n")
}

// codeNames are the codes of some explanations, each once.
func codeNames(all []explanation) []string {
	var names []string
	for _, e := range all {
		if !slices.Contains(names, e.Code) {
			names = append(names, e.Code)
		}
	}
	return names
}

// explanations are those of all codes, in the order of the pages: the faults, under headings, and a table of the losses.
func explanations() []explanation {
	var all []explanation
	faults, losses, _ := strings.Cut(codesPage, "## Losses\n")
	for _, section := range strings.Split("\n"+faults, "\n### ")[1:] {
		group, entries, _ := strings.Cut(section, "\n")
		for _, entry := range strings.Split(entries, "\n#### ")[1:] {
			code, text, _ := strings.Cut(entry, "\n")
			all = append(all, explanation{Code: code, About: "fault", Group: group, Text: unfence(strings.TrimSpace(text) + "\n")})
		}
	}
	for _, effect := range []string{"lost", "changed"} {
		for line := range strings.Lines(losses) {
			cells := strings.SplitN(strings.Trim(line, "| \n"), " | ", 3)
			if len(cells) == 3 && cells[1] == effect {
				all = append(all, explanation{
					Code: strings.Trim(cells[0], "`"), About: "loss", Group: lossGroups[effect], Text: sentence(cells[2]),
				})
			}
		}
	}
	return all
}

// sentence is a text with a capital letter and a full stop, as a line.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + ".\n" }

// unfence indents what stands between fences, which leaves the code as a terminal shows it.
func unfence(markdown string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(markdown) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside
		case inside && line != "\n":
			b.WriteString("    " + line)
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}
