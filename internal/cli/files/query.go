package files

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/display"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
)

// queryCommand is an invocation of 'lumi query'.
type queryCommand struct {
	con   *console.Console
	doc   *document.File
	index *query.Index

	dependencies, dependents, from, to string
	all, roots, leaves                 bool
	limit                              int
	format                             string
}

func newQueryCommand(con *console.Console) *cobra.Command {
	q := queryCommand{con: con}
	c := &cobra.Command{
		Use:   "query FILE [EXPRESSION]",
		Short: "find resources by properties and dependencies",
		Long: `Print the keys of the resources that match the flags and the expression. EXPRESSION is CEL over
key, type, id, name, environment, pkg, module, properties, options, dependencies, and dependents;
KEY is a URN, the end of one, or a unique name. With --from and --to, it prints the paths between
two resources, shortest first.

With --json, it prints one object per resource, as 'lumi show' does, or per path: {"path": [KEY,
…]}. docs/query.md explains the language.`,
		Annotations: console.ExitCodes("something was found", "nothing was found", console.FaultsFailed),
		Example: console.Examples(
			"All subnets that have no tags.", `lumi query prod.json 'type.endsWith(":Subnet") && !has(properties.tags)'`,
			"What would be lost with a resource?", "lumi query prod.json --dependents=VPC::main --all",
			"Why does one resource depend on another?", "lumi query prod.json --from=web --to=VPC::main",
			"Which resources have no dependents?", "lumi query prod.json --roots --format=table",
		),
		ValidArgsFunction: document.CompleteFiles,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := q.misuse(c.Flags()); err != nil {
				return err
			}
			return q.run()
		},
	}
	flags := c.Flags()
	flags.StringVarP(&q.dependencies, "dependencies", "d", "", "list the dependencies of `KEY`")
	flags.StringVarP(&q.dependents, "dependents", "r", "", "list the dependents of `KEY`")
	flags.BoolVarP(&q.all, "all", "a", false, "with --dependencies or --dependents: include indirect ones")
	flags.BoolVar(&q.roots, "roots", false, "list resources without dependents")
	flags.BoolVar(&q.leaves, "leaves", false, "list resources without dependencies")
	flags.StringVar(&q.from, "from", "", "list dependency paths that begin at `KEY`")
	flags.StringVar(&q.to, "to", "", "list dependency paths that end at `KEY`")
	flags.IntVar(&q.limit, "limit", 10, "print at most `N` paths")
	console.ChoiceVar(c, flags, &q.format, "format", "keys", "`HOW` to print", "keys", "table")
	return c
}

// misuse returns an error if the flags are invalid or contradict each other.
func (q *queryCommand) misuse(flags *pflag.FlagSet) error {
	switch {
	case (q.from == "") != (q.to == ""):
		return console.Misused("--from and --to must be used together")
	case q.all && q.dependencies == "" && q.dependents == "":
		return console.Misused("--all requires --dependencies or --dependents")
	case q.limit < 1:
		return console.Misused("--limit=%d: must be at least 1", q.limit)
	case flags.Changed("limit") && q.from == "":
		return console.Misused("--limit requires --from and --to")
	case q.format != "keys" && q.con.JSON:
		return console.Misused("--json and --format=%s cannot be combined", q.format)
	case q.format != "keys" && q.from != "":
		return console.Misused("--format=%s cannot be used with --from and --to", q.format)
	}
	return nil
}

func (q *queryCommand) run() error {
	var expression *query.Expression
	if len(q.con.Args) > 1 {
		var err error
		if expression, err = query.Compile(q.con.Args[1]); err != nil {
			return err
		}
	}
	doc, err := document.Load(q.con, q.con.Args[0])
	if errors.Is(err, console.ErrWrong) {
		return console.ErrFailed // exit code 1 means that nothing was found
	}
	if err != nil {
		return err
	}
	q.con.Doing("searching %s", doc.Name)
	q.doc, q.index = doc, query.New(doc.Base())
	chosen, err := q.choose(expression)
	if err != nil {
		return fmt.Errorf("%s: %w", doc.Name, err)
	}
	if q.from != "" {
		return q.paths(chosen)
	}
	if len(chosen) == 0 {
		if hint := typeHint(q.index, expression); hint != "" {
			q.con.Say("%s: %s", doc.Name, hint)
		}
		return console.ErrWrong
	}
	v := &display.Viewer{Con: q.con, Doc: doc, Index: q.index}
	switch {
	case q.con.JSON:
		return v.JSON(chosen)
	case q.format == "table":
		v.Table(chosen)
		return nil
	}
	for _, one := range chosen {
		q.con.Printf("%s\n", term.Visible(one.Key()))
	}
	return nil
}

// typeHint suggests an existing type if the expression contains a type that no resource has. It returns "" if there is
// no suggestion.
func typeHint(index *query.Index, expression *query.Expression) string {
	if expression == nil {
		return ""
	}
	given, meant := index.MeantType(expression)
	if len(meant) == 0 {
		return ""
	}
	const most = 3
	var conditions []string
	for _, t := range meant[:min(most, len(meant))] {
		conditions = append(conditions, fmt.Sprintf("type == %q", t))
	}
	return fmt.Sprintf("no resource has the type %q; did you mean %s?", given, strings.Join(conditions, " or "))
}

// choose returns the vertices that match all conditions, in graph order.
func (q *queryCommand) choose(expression *query.Expression) ([]*lumigl.Vertex, error) {
	chosen := slices.Collect(q.doc.Base().Vertices())
	keep := func(some []*lumigl.Vertex) { chosen = slices.DeleteFunc(chosen, noneOf(some)) }
	for _, related := range []struct {
		to string
		by func(*lumigl.Vertex, bool) []*lumigl.Vertex
	}{{q.dependencies, q.index.Dependencies}, {q.dependents, q.index.Dependents}} {
		if related.to == "" {
			continue
		}
		v, err := q.index.Find(related.to)
		if err != nil {
			return nil, err
		}
		keep(related.by(v, q.all))
	}
	if q.roots {
		keep(q.index.Roots())
	}
	if q.leaves {
		keep(q.index.Leaves())
	}
	if expression != nil {
		some, err := q.index.Select(expression)
		if err != nil {
			return nil, err
		}
		keep(some)
	}
	return chosen, nil
}

// noneOf returns a function that reports whether a vertex is missing from some.
func noneOf(some []*lumigl.Vertex) func(*lumigl.Vertex) bool {
	among := make(map[*lumigl.Vertex]bool, len(some))
	for _, v := range some {
		among[v] = true
	}
	return func(v *lumigl.Vertex) bool { return !among[v] }
}

// jsonPath is the JSON form of a path between vertices.
type jsonPath struct {
	Path []string `json:"path"`
}

// paths prints the paths between two vertices that contain only matching vertices.
func (q *queryCommand) paths(chosen []*lumigl.Vertex) error {
	from, err := q.index.Find(q.from)
	if err != nil {
		return fmt.Errorf("%s: %w", q.doc.Name, err)
	}
	to, err := q.index.Find(q.to)
	if err != nil {
		return fmt.Errorf("%s: %w", q.doc.Name, err)
	}
	barred := noneOf(chosen)
	found, all := q.index.Paths(from, to, func(v *lumigl.Vertex) bool { return !barred(v) }, q.limit)
	for i, path := range found {
		if !q.con.JSON {
			if i > 0 {
				q.con.Printf("\n")
			}
			for _, v := range path {
				q.con.Printf("%s\n", term.Visible(v.Key()))
			}
			continue
		}
		line := jsonPath{Path: make([]string, len(path))}
		for i, v := range path {
			line.Path[i] = v.Key()
		}
		if err := q.con.PrintJSON(line); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		return console.ErrWrong
	}
	if !all {
		q.con.Say("there may be more paths than these %d; --limit=%d shows more", len(found), 10*q.limit)
	}
	return nil
}
