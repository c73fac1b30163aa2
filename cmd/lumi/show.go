package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// viewer is one run of 'lumi show'.
type viewer struct {
	con    *console.Console
	doc    *document
	index  *query.Index
	view   string
	invert bool
	top    bool // whether to show the top-level fields
	depth  int
	older  []older // versions of modules that are kept beside the newest ones
}

func newShowCommand(con *console.Console) *cobra.Command {
	v := viewer{con: con}
	c := &cobra.Command{
		Use:   "show FILE [KEY...]",
		Short: "show what is in a LumiGL file, or all of some resources",
		Long: `Without keys it shows the resources of a snapshot, or the vertices of a graph: on a terminal as a tree
in which whatever one refers to stands below it, else one a line with tabs between key, type and id;
with --invert or --depth it is a tree anywhere. Resources with names such as 'web/db' and 'web/app' stand
below 'web/', the component that made them. With keys it shows all of these resources. A key is a
URN, the end of one, such as 'aws:ec2/vpc:VPC::main', or just a name, 'main', as long as only one fits.

With --fields it shows what stands at the top of the file beside these, such as the arguments of the
program; the tree and the table name it, with its size.

Secrets are not shown, ever. Values that are not known yet are (unknown).

In the state of an environment, resources of older versions of modules follow, which are kept for others.
They are marked, such as "a::46 for b".

With --json, each resource is an object on a line of its own, with "key", "type", "name", "id",
"options", "source", "properties", "extensions", "uses" and "usedBy"; the value of a secret is
"(secret)". Those of older versions also have "version" and "neededBy". With --fields too, there is one object, which has the fields.`,
		Annotations: console.ExitCodes("all that was asked for is shown", "the file has faults", console.ElseFailed),
		Example: console.Examples(
			"What is there?", "lumi show prod.json",
			"What depends on what, upside down.", "lumi show --invert prod.json",
			"All of one resource.", "lumi show prod.json web",
			"What was the program given?", "lumi show --fields prod.json",
			"All of all resources, for a program.", "lumi show --json prod.json",
		),
		ValidArgsFunction: completeKeys,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := v.settle(c.Flags()); err != nil {
				return err
			}
			doc, err := load(con, con.Args[0])
			if err != nil {
				return err
			}
			con.Doing("arranging %s", doc.name)
			v.doc, v.index = doc, query.New(doc.Base())
			return v.show(con.Args[1:])
		},
	}
	flags := c.Flags()
	console.ChoiceVar(c, flags, &v.view, "view", "auto", "`HOW` to show", "auto", "tree", "table", "plain")
	flags.BoolVarP(&v.invert, "invert", "i", false, "show the tree, with what refers to it below each")
	flags.BoolVar(&v.top, "fields", false, "show the top-level fields beside the resources, such as args, in full")
	flags.IntVar(&v.depth, "depth", 20, "show the tree, with at most `N` levels")
	return c
}

// settle looks at how the flags go together. Whoever says how the tree is to be wants the tree.
func (v *viewer) settle(flags *pflag.FlagSet) error {
	aboutTree := v.invert || flags.Changed("depth")
	switch {
	case v.depth < 1 || v.depth > maxDepth:
		return console.Misused("--depth=%d: it is a whole number from 1 to %d", v.depth, maxDepth)
	case v.top && (len(v.con.Args) > 1 || flags.Changed("view") || aboutTree):
		return console.Misused("--fields is about what stands beside the resources; leave out KEY, --view, --invert and --depth")
	case aboutTree && (len(v.con.Args) > 1 || v.con.JSON || v.view == "table" || v.view == "plain"):
		return console.Misused("--invert and --depth are about the tree, and there is none with KEY, --json or another --view")
	case aboutTree:
		v.view = "tree"
	}
	return nil
}

// maxDepth bounds the tree, whose lines get longer with every level.
const maxDepth = 1000

func (v *viewer) show(keys []string) error {
	if v.top {
		return v.showFields()
	}
	if s := v.snapshot(); s != nil {
		v.older = olderVersions(s)
	}
	var chosen []*lumigl.Vertex
	for _, key := range keys {
		found, err := v.find(key)
		if err != nil {
			return fmt.Errorf("%s: %w", v.doc.name, err)
		}
		for _, one := range found {
			if !slices.Contains(chosen, one) {
				chosen = append(chosen, one)
			}
		}
	}
	if v.con.JSON {
		if len(keys) == 0 {
			chosen = v.all()
		}
		return v.json(chosen)
	}
	for i, one := range chosen {
		if i > 0 {
			v.con.Printf("\n")
		}
		v.details(one)
	}
	if len(keys) > 0 {
		return nil
	}
	view := v.view
	if view == "auto" {
		view = "plain"
		if v.con.Out.Terminal {
			view = "tree"
		}
	}
	switch view {
	case "tree":
		v.header()
		v.tree()
		for _, o := range v.older {
			for one := range o.Vertices() {
				v.line(v.entry(one) + " " + v.con.Out.Paint(term.Dim, "("+o.String()+")"))
			}
		}
		v.pending()
	case "table":
		v.header()
		v.table(v.all())
		v.pending()
	default:
		v.plain()
	}
	return nil
}

func (v *viewer) snapshot() *lumigl.Snapshot {
	s, _ := v.doc.Document.(*lumigl.Snapshot)
	return s
}

// name is what people call a vertex.
func (v *viewer) name(one *lumigl.Vertex) string {
	if v.snapshot() == nil {
		return one.Key()
	}
	return one.URN().Name()
}

// label is a vertex's name, with what tells it apart from others of that name.
func (v *viewer) label(one *lumigl.Vertex) string {
	if v.snapshot() == nil {
		return term.Visible(one.Key())
	}
	return term.Visible(one.URN().Name()) + " " + v.con.Out.Paint(term.Dim, "("+term.Visible(string(one.URN().Type()))+")")
}

// line prints a line, cut where the terminal ends. The text is safe to print, and may have colours.
func (v *viewer) line(text string) { v.con.Line(text) }

// plain prints a line for each vertex, for programs and for pipes.
func (v *viewer) plain() {
	for _, one := range v.all() {
		line := term.Visible(one.Key())
		if v.snapshot() != nil {
			line += "\t" + term.Visible(string(one.Type)) + "\t" + term.Visible(one.ID)
		}
		if o := v.olderOf(one); o != nil {
			line += "\t" + o.String()
		}
		v.con.Printf("%s\n", line)
	}
}

// header says what the document is as a whole.
func (v *viewer) header() {
	text := term.Visible(v.doc.name) + ": " + summary(v.doc.Document)
	if s := v.snapshot(); s != nil {
		if s.Package != "" {
			text += ", of " + term.Visible(s.Package)
		}
		if s.Lineage != "" || s.Serial > 0 {
			text += fmt.Sprintf(", serial %d", s.Serial)
		}
		if s.Lineage != "" {
			text += " of " + term.Visible(s.Lineage)
		}
	}
	v.line(v.con.Out.Paint(term.Bold, text))
	v.otherFields()
}

// pending lists what a deployment has not finished.
func (v *viewer) pending() {
	s := v.snapshot()
	if s == nil {
		return
	}
	entry := func(what string, r *lumigl.Vertex) {
		text := v.con.Out.Paint(term.BoldCyan, "pending "+what) + " " + v.label(r)
		if r.ID != "" {
			text += " " + v.con.Out.Paint(term.Dim, term.Visible(r.ID))
		}
		v.line(text)
	}
	for _, r := range s.Pending.Deletes {
		entry("deletion", r)
	}
	for _, o := range s.Pending.Operations {
		entry(string(o.Kind), o.Resource)
	}
}

// completeKeys lists the keys of the file that the first argument names.
func completeKeys(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || args[0] == stdinArg {
		return workspace.CompleteFiles(c, args, typed)
	}
	con := console.New(nil, io.Discard, io.Discard, os.Getenv)
	doc, err := load(con, args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	v := &viewer{doc: doc}
	var all []string
	for one := range doc.Base().Vertices() {
		all = append(all, term.Visible(v.name(one)))
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
