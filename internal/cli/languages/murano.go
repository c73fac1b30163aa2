package languages

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/desired"
	"github.com/lumi-idl/lumi/lang/yaql"
)

// newMuranoCommand returns the group of commands for MuranoPL.
func newMuranoCommand(con *console.Console) *cobra.Command {
	c := &cobra.Command{
		Use:   "murano",
		Short: "check and run MuranoPL",
		Long: `MuranoPL describes environments as objects. Their classes, written in YAML, declare properties with
contracts and the methods that deploy the objects. docs/muranopl.md explains the language.`,
		Annotations: console.ExitCodes("the command succeeded", "the classes have errors, or the method failed", console.ElseFailed),
	}
	console.AddCommands(c, "Commands", newMuranoCheckCommand(con), newMuranoModelCommand(con), newMuranoRunCommand(con))
	return c
}

func newMuranoCheckCommand(con *console.Console) *cobra.Command {
	var schemas []string
	c := &cobra.Command{
		Use:   "check DIR|ARCHIVE...",
		Short: "report all errors in MuranoPL classes",
		Long: `Check classes in directories and package archives and report all errors in YAML, manifests,
names, parents, contracts, and methods. Keys without effect are warnings. With --schema, it also
checks resource types and property names.

With --json, it prints one object per error, one per line: "file", "line", "column", "kind", "message",
"warning".`,
		Annotations: console.ExitCodes("no class has errors", "a class has errors", "a file cannot be read, or a usage or system error"),
		Example: console.Examples(
			"Check the classes of a folder.", "lumi murano check murano",
			"Check the resources that workflows ask for.", "cidlc idl --out-schema=schema.json && lumi murano check --schema=schema.json murano",
			"All errors, as JSON.", "lumi murano check --json murano",
		),
		RunE: func(*cobra.Command, []string) error { return checkClasses(con, schemas) },
	}
	c.Flags().StringArrayVar(&schemas, "schema", nil, "read types of resources from a schema `FILE` of cidlc; may be repeated")
	_ = c.MarkFlagFilename("schema", "json")
	return c
}

func checkClasses(con *console.Console, schemas []string) error {
	packages, err := document.ReadSchemas(con, schemas)
	if err != nil {
		return err
	}
	classes, err := document.OpenClasses(con, con.Args)
	if classes == nil {
		return err
	}
	known := muranopl.Known{Functions: []*yaql.Function{traceFunction(nil)}, Resources: desired.Resources(packages)}
	con.Doing("checking %s", console.Count(len(classes.Declarations), "class"))
	names := slices.Sorted(maps.Keys(classes.Declarations))
	errs := slices.Concat(classes.Errors, muranopl.Check(muranopl.Resolvers{classes, desired.Library(nil)}, names, known))
	warnings := 0
	for _, one := range errs {
		if one.Warning {
			warnings++
		}
	}
	if err = document.PrintClassErrors(con, classes, errs); warnings == len(errs) {
		err = nil
	}
	switch {
	case con.JSON:
	case err == nil && warnings == 0:
		con.Printf("%s: ok, %s\n", term.Visible(strings.Join(con.Args, ", ")), console.Count(len(classes.Declarations), "class"))
	default:
		con.Separate()
		found := console.Count(len(errs)-warnings, "error")
		if warnings > 0 {
			found += ", " + console.Count(warnings, "warning")
		}
		con.Say("%s in %s", found, strings.Join(con.Args, ", "))
	}
	return err
}
