package files

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/internal/atomicfile"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/lumigl/render"
)

// graphCommand is an invocation of 'lumi graph'.
type graphCommand struct {
	con    *console.Console
	output document.Output

	format, expression, around, direction, cluster string
	depth                                          int
}

func newGraphCommand(con *console.Console) *cobra.Command {
	d := graphCommand{con: con}
	c := &cobra.Command{
		Use:   "graph FILE",
		Short: "draw a graph with Graphviz or Mermaid, or as an HTML page",
		Long: `Draw resources, with an arrow from each to its dependencies. The format follows the extension of
the output file: .dot, .gv, .mmd, or .html; DOT is the default. An HTML page is self-contained, with
search and zoom. Secrets are never drawn. --select takes an expression of 'lumi query'; --around
takes a key: a URN, the end of one, or a unique name.

With --json, it prints "vertices" and "arrows" and, with -o, "file" and "format". docs/graph.md
explains clusters and selections.`,
		Annotations: console.ExitCodes("the graph is drawn", "the file has errors", console.ElseFailed),
		Example: console.Examples(
			"An interactive page.", "lumi graph prod.json -o prod.html",
			"A picture, with Graphviz.", "lumi graph prod.json | dot -Tsvg >prod.svg",
			"The resources up to two steps from another, for a Markdown page.", "lumi graph prod.json --format=mermaid --around=web --depth=2",
			"Only the resources of one package, with a frame for each type.", `lumi graph prod.json --select='type.startsWith("aws:")' --cluster=type`,
		),
		ValidArgsFunction: document.CompleteFiles,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := d.misuse(c.Flags()); err != nil {
				return err
			}
			return d.run()
		},
	}
	flags := c.Flags()
	console.ChoiceVar(c, flags, &d.format, "format", "auto", "`HOW` to draw", "auto", "dot", "mermaid", "html")
	document.OutputVar(c, &d.output, "the drawing", "dot", "gv", "mmd", "html")
	flags.StringVarP(&d.expression, "select", "s", "", "draw only resources that match `EXPRESSION`")
	flags.StringVar(&d.around, "around", "", "draw only `KEY` and resources near it")
	flags.IntVar(&d.depth, "depth", 1, "with --around: draw resources up to `N` steps away")
	console.ChoiceVar(c, flags, &d.direction, "direction", "both", "with --around: follow edges in this `DIRECTION`", "both", "dependencies", "dependents")
	console.ChoiceVar(c, flags, &d.cluster, "cluster", "none", "draw a frame around the resources of each type, or each `PART` of a type", "none", "type", "package", "module")
	return c
}

// formats maps each file extension to its format.
var formats = map[string]string{".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid", ".html": "html", ".htm": "html"}

// misuse returns an error if the flags are invalid or contradict each other. It also sets the format.
func (d *graphCommand) misuse(flags *pflag.FlagSet) error {
	if err := d.output.Misuse(); err != nil {
		return err
	}
	given := d.format != "auto"
	if !given {
		d.format = "dot"
		if by, ok := formats[strings.ToLower(filepath.Ext(d.output.Name))]; ok {
			d.format, given = by, true
		}
	}
	switch {
	case d.output.Name != "" && !given:
		return console.Misused("%s: cannot tell the format from the name; use --format", d.output.Name)
	case d.around == "" && (flags.Changed("depth") || flags.Changed("direction")):
		return console.Misused("--depth and --direction require --around")
	case d.depth < 1:
		return console.Misused("--depth=%d: must be at least 1", d.depth)
	case d.format == "html" && d.cluster != "none":
		return console.Misused("an HTML page cannot have frames; remove --cluster")
	case d.con.JSON && d.output.Name == "" && flags.Changed("format"):
		return console.Misused("--json and --format cannot be combined without -o FILE")
	}
	return nil
}

func (d *graphCommand) run() error {
	if err := d.output.Free(d.con, d.con.Args[0]); err != nil {
		return err
	}
	doc, err := document.Load(d.con, d.con.Args[0])
	if err != nil {
		return err
	}
	d.con.Doing("drawing %s", doc.Name)
	o := render.Options{Title: filepath.Base(doc.Name), Cluster: render.Cluster(d.cluster)}
	if o.Only, err = d.choose(doc); err != nil {
		return err
	}
	if o.Only != nil && len(o.Only) == 0 {
		return fmt.Errorf("%s: nothing to draw: no resource matches --select and --around", doc.Name)
	}
	var summary *render.Summary
	if d.con.JSON || d.format == "mermaid" {
		summary = render.Summarize(doc.Document, o)
	}
	if d.con.JSON && d.output.Name == "" {
		return d.con.PrintJSON(summary)
	}
	var text bytes.Buffer
	switch d.format {
	case "dot":
		err = render.DOT(&text, doc.Document, o)
	case "mermaid":
		err = render.Mermaid(&text, doc.Document, o)
	default:
		err = render.Page(&text, doc.Document, o)
	}
	var large *render.TooLargeError
	if errors.As(err, &large) {
		return fmt.Errorf("%s: %w; choose fewer with --select or --around, or use --format=dot", doc.Name, err)
	}
	if err != nil {
		return err
	}
	if d.format == "mermaid" && (len(summary.Arrows) > render.MermaidMaxArrows || text.Len() > render.MermaidMaxText) {
		d.con.Say("%d arrows in %d characters: most Mermaid renderers accept at most %d and %d; choose fewer with --select or --around, or use --format=html",
			len(summary.Arrows), text.Len(), render.MermaidMaxArrows, render.MermaidMaxText)
	}
	return d.write(text.Bytes(), summary)
}

// written is the JSON form of the result of 'lumi graph'.
type written struct {
	File     string `json:"file"`
	Format   string `json:"format"`
	Vertices int    `json:"vertices"`
	Arrows   int    `json:"arrows"`
}

func (d *graphCommand) write(text []byte, summary *render.Summary) error {
	if d.output.Name == "" {
		_, err := d.con.Stdout.Write(text)
		return err
	}
	if err := d.output.Write(d.con, d.con.Args[0], atomicfile.Bytes(text), 0o666); err != nil {
		return err
	}
	if d.con.JSON {
		return d.con.PrintJSON(written{d.output.Name, d.format, len(summary.Vertices), len(summary.Arrows)})
	}
	return nil
}

// choose returns the vertices to draw. Nil means all.
func (d *graphCommand) choose(doc *document.File) ([]*lumigl.Vertex, error) {
	if d.expression == "" && d.around == "" {
		return nil, nil
	}
	index := query.New(doc.Base())
	chosen := slices.Collect(doc.Base().Vertices())
	if d.around != "" {
		v, err := index.Find(d.around)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doc.Name, err)
		}
		chosen = index.Around(v, d.depth, d.direction != "dependents", d.direction != "dependencies")
	}
	if d.expression != "" {
		expression, err := query.Compile(d.expression)
		if err != nil {
			return nil, err
		}
		some, err := index.Select(expression)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doc.Name, err)
		}
		if hint := typeHint(index, expression); hint != "" && len(some) == 0 {
			return nil, fmt.Errorf("%s: nothing to draw: %s", doc.Name, hint)
		}
		chosen = slices.DeleteFunc(chosen, noneOf(some))
	}
	return chosen, nil
}
