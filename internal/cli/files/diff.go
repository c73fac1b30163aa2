package files

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
)

func newDiffCommand(con *console.Console) *cobra.Command {
	var f diffFlags
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "compare two graphs or snapshots",
		Long: `Compare two snapshots or two graphs and print the created, updated, replaced (±), and deleted
resources, with added (+), removed (-), and changed (~) values. Key order is ignored, and secrets
are not shown. --schema names the properties whose change replaces a resource. Pairs that may have
moved are listed last.

With --desired, OLD is a state and NEW the desired state of a module; what only a state has, such as
ids, lineage, and outputs, is not reported as removed. docs/diff.md describes the output.`,
		Annotations: console.ExitCodes("no differences", "differences found", console.FaultsFailed),
		Example: console.Examples(
			"What has changed since yesterday?", "lumi diff yesterday.json today.json",
			"What has changed since the last commit?", "git show HEAD:prod.json | lumi diff - prod.json",
			"What would change in the state?", "lumi diff --desired prod.json desired.json",
			"Which changes replace resources?", "cidlc idl --out-schema=schema.json && lumi diff --schema=schema.json old.json new.json",
			"List the URNs of deleted resources.", `lumi diff --json old.json new.json | jq -r '.resources[] | select(.change == "deleted") | .key'`,
		),
		ValidArgsFunction: document.CompleteFiles,
		RunE: func(*cobra.Command, []string) error {
			if err := cmp.Or(f.misuse(con.JSON), document.StdinOnce(slices.Concat(con.Args, f.schemas))); err != nil {
				return err
			}
			return f.run(con)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.stat, "stat", false, "print one line per changed resource, without values")
	flags.BoolVar(&f.desired, "desired", false, "treat NEW as desired state: do not report what only the state has")
	flags.StringArrayVar(&f.schemas, "schema", nil, "take output properties, and those whose change replaces, from a schema `FILE` of cidlc; may be repeated")
	_ = c.MarkFlagFilename("schema", "json")
	flags.IntVarP(&f.context, "context", "U", 1, "show `N` unchanged list elements around each change")
	return c
}

type diffFlags struct {
	stat, desired bool
	schemas       []string
	context       int
}

// misuse returns an error if the flags are invalid or contradict each other.
func (f *diffFlags) misuse(json bool) error {
	switch {
	case f.stat && json:
		return console.Misused("--stat and --json cannot be combined")
	case f.context < 0:
		return console.Misused("--context=%d: must not be negative", f.context)
	}
	return nil
}

func (f *diffFlags) run(con *console.Console) error {
	schemas, err := document.ReadSchemas(con, f.schemas)
	if err != nil {
		return err
	}
	var types plan.Types
	for _, one := range schemas {
		types.AddSchema(one)
	}
	old, err := loadToCompare(con, con.Args[0])
	if err != nil {
		return err
	}
	new, err := loadToCompare(con, con.Args[1])
	if err != nil {
		return err
	}
	con.Doing("comparing %s with %s", old.Name, new.Name)
	delta, err := f.compare(con, old, new, types)
	if err != nil {
		return err
	}
	shown := diff.TextOptions{Color: con.Out.Color, Context: f.context}
	switch {
	case con.JSON:
		err = delta.WriteJSON(con.Stdout)
	case f.stat:
		err = delta.WriteStat(con.Stdout, shown)
	default:
		err = delta.WriteText(con.Stdout, shown)
	}
	if err != nil {
		return err
	}
	if !delta.Empty() {
		return console.ErrWrong
	}
	return nil
}

// loadToCompare loads a document. If it has errors, the command must exit with code 2, since code 1 means that the
// documents differ.
func loadToCompare(con *console.Console, arg string) (*document.File, error) {
	doc, err := document.Load(con, arg)
	if errors.Is(err, console.ErrWrong) {
		return nil, console.ErrFailed
	}
	return doc, err
}

// compare compares two documents. If --desired is set, it compares the first as state with the second as desired state.
func (f *diffFlags) compare(con *console.Console, old, new *document.File, types plan.Types) (*diff.Delta, error) {
	o := diff.Options{Replaces: types.Replaces}
	state, ok := old.Document.(*lumigl.Snapshot)
	desired, both := new.Document.(*lumigl.Snapshot)
	switch {
	case ok && both && f.desired:
		return plan.Compare(state, desired, types)
	case f.desired:
		return nil, errors.New("diff: --desired requires two snapshots, but one of the files is a general graph")
	case ok && both && plan.LooksDesired(desired) && !plan.LooksDesired(state) && state.Len() > 0 && !con.JSON:
		con.Say("%s has no ids; if it is desired state, --desired ignores what only the state has", new.Name)
	}
	now := new.Document
	if ok && both {
		now = types.Settle(state, desired)
	}
	delta, err := diff.Compare(old.Document, now, o)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", old.Name, new.Name, err)
	}
	return delta, nil
}
