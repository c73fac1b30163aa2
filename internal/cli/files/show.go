package files

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/display"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl/query"
)

func newShowCommand(con *console.Console) *cobra.Command {
	v := display.Viewer{Con: con}
	c := &cobra.Command{
		Use:   "show FILE [KEY...]",
		Short: "show the resources in a LumiGL file",
		Long: `Without keys, it prints a tree of resources on a terminal, with dependencies below each resource;
elsewhere, one line per resource: key, type, and id, separated by tabs. With keys, it prints these
resources in full. KEY is a URN, the end of one, or a unique name. Secrets are not shown; unknown
values are (unknown). Resources of older module versions are listed last, marked such as "a::46 for
b". --fields prints the top-level fields, too.

With --json, it prints one object per resource, one per line: "key", "type", "name", "id", "options",
"source", "properties", "extensions", "uses", "usedBy" and, for older versions, "version" and
"neededBy".`,
		Annotations: console.ExitCodes("the resources are shown", "the file has errors", console.ElseFailed),
		Example: console.Examples(
			"Show all resources.", "lumi show prod.json",
			"Show dependents below each resource.", "lumi show --invert prod.json",
			"Show one resource in full.", "lumi show prod.json web",
			"What was the program given?", "lumi show --fields prod.json",
			"Show all resources in full, as JSON.", "lumi show --json prod.json",
		),
		ValidArgsFunction: completeKeys,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkFlags(&v, c.Flags()); err != nil {
				return err
			}
			doc, err := document.Load(con, con.Args[0])
			if err != nil {
				return err
			}
			con.Doing("arranging %s", doc.Name)
			v.Doc, v.Index = doc, query.New(doc.Base())
			return v.Show(con.Args[1:])
		},
	}
	flags := c.Flags()
	console.ChoiceVar(c, flags, &v.View, "view", "auto", "`HOW` to show", "auto", "tree", "table", "plain")
	flags.BoolVarP(&v.Invert, "invert", "i", false, "show the tree with dependents below each resource")
	flags.BoolVar(&v.Top, "fields", false, "show the top-level fields other than resources, such as args, in full")
	flags.IntVar(&v.Depth, "depth", 20, "show at most `N` levels of the tree")
	return c
}

// checkFlags returns an error if the flags contradict each other. The flags --invert and --depth imply the tree view.
func checkFlags(v *display.Viewer, flags *pflag.FlagSet) error {
	aboutTree := v.Invert || flags.Changed("depth")
	switch {
	case v.Depth < 1 || v.Depth > maxDepth:
		return console.Misused("--depth=%d: must be from 1 to %d", v.Depth, maxDepth)
	case v.Top && (len(v.Con.Args) > 1 || flags.Changed("view") || aboutTree):
		return console.Misused("--fields cannot be combined with KEY, --view, --invert, or --depth")
	case aboutTree && (len(v.Con.Args) > 1 || v.Con.JSON || v.View == "table" || v.View == "plain"):
		return console.Misused("--invert and --depth require the tree, and cannot be combined with KEY, --json, or another --view")
	case aboutTree:
		v.View = "tree"
	}
	return nil
}

// maxDepth limits the depth of the tree, since lines get longer with each level.
const maxDepth = 1000

// completeKeys completes the keys in the file given as the first argument.
func completeKeys(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || args[0] == document.StdinArg {
		return document.CompleteFiles(c, args, typed)
	}
	con := console.New(nil, io.Discard, io.Discard, os.Getenv)
	doc, err := document.Load(con, args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	v := &display.Viewer{Doc: doc}
	var all []string
	for one := range doc.Base().Vertices() {
		all = append(all, term.Visible(v.Name(one)))
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
