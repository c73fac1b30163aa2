package files

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/display"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
)

// converter is an invocation of 'lumi convert'.
type converter struct {
	con                     *console.Console
	from, types, references string
	environment, pkg        string
	output                  document.Output
	strict                  bool
}

func newConvertCommand(con *console.Console) *cobra.Command {
	v := converter{con: con}
	c := &cobra.Command{
		Use:   "convert [FILE]",
		Short: "convert another tool's state to a snapshot",
		Long: `Convert the output of 'pulumi stack export', or a version 4 state of OpenTofu or Terraform, to a
LumiGL snapshot. Each value that is left out or changed is reported on standard error, with a JSON
pointer and a code that docs/convert.md explains; with --strict, any loss fails the conversion. The
snapshot contains secrets in plain text, so it is never printed on a terminal if it has any.

With --json, it prints "file", "from", "links", "losses" and, without -o, "snapshot"; or one object
per error, as 'lumi check' does.`,
		Annotations: console.ExitCodes("the file is converted", "the file cannot be converted, or, with --strict, something would be lost or changed", console.ElseFailed),
		Example: console.Examples(
			"Convert a stack with its secrets.", "pulumi stack export --show-secrets | lumi convert -o prod.json",
			"Convert a state.", "tofu state pull | lumi convert --environment prod --package my/cluster -o prod.json",
			"What would be lost?", "lumi convert --json terraform.tfstate | jq -r '.losses[] | select(.lost) | .pointer'",
		),
		RunE: func(*cobra.Command, []string) error {
			files, err := document.Inputs(con)
			if err != nil {
				return err
			}
			if err := v.output.Misuse(); err != nil {
				return err
			}
			if err := v.options().Check(); err != nil {
				return console.Misused("%s", err)
			}
			return v.run(files[0])
		},
	}
	flags := c.Flags()
	console.ChoiceVar(c, flags, &v.from, "from", "auto", "the `FORMAT` of the file", "auto", "pulumi", "opentofu")
	flags.StringVar(&v.environment, "environment", "", "the `NAME` of the environment, instead of the file's own")
	flags.StringVar(&v.pkg, "package", "", "the `NAME` of the package, instead of the file's own")
	console.ChoiceVar(c, flags, &v.types, "types", "keep", "the `FORM` of types such as aws:ec2/vpc:VPC", "keep", "short")
	console.ChoiceVar(c, flags, &v.references, "references", "find",
		"`WHAT` to do with values copied from another resource: make them references, or keep them", "find", "keep")
	document.OutputVar(c, &v.output, "the snapshot", "json")
	flags.BoolVar(&v.strict, "strict", false, "write nothing if anything is lost or changed, and exit with 1")
	return c
}

func (v *converter) options() convert.Options {
	o := convert.Options{
		Environment: v.environment, Package: v.pkg, ShortTypes: v.types == "short", KeepValues: v.references == "keep",
	}
	if v.from != "auto" {
		o.From = convert.Format(v.from)
	}
	return o
}

func (v *converter) run(name string) error {
	if err := v.output.Free(v.con, name); err != nil {
		return err
	}
	in, err := document.ReadFile(v.con, name)
	if err != nil {
		return err
	}
	v.con.Doing("converting %s", in.Name)
	result, err := convert.Convert(in.Src, v.options())
	var refused *convert.RefusedError
	switch {
	case errors.As(err, &refused):
		return v.decline(in, refused)
	case err != nil:
		return v.refuse(in, err)
	}
	if err := v.write(name, in, result); err != nil {
		return err
	}
	if v.strict && len(result.Losses) > 0 {
		return console.ErrWrong
	}
	return nil
}

// decline reports that a file cannot be converted, as text and, with --json, also as JSON.
func (v *converter) decline(in *document.Input, refused *convert.RefusedError) error {
	v.con.Say("%s: %s", in.Name, refused)
	if v.con.JSON {
		if err := v.con.PrintJSON(document.JSONFault{File: in.Name, Code: lumigl.FormFault, Message: refused.Problem}); err != nil {
			return err
		}
	}
	return console.ErrWrong
}

// refuse prints the errors in a file and returns [console.ErrWrong]. It hides all content, since any part of another
// tool's file, including keys, may be secret.
func (v *converter) refuse(in *document.Input, err error) error {
	var invalid *lumigl.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return cmp.Or(document.PrintFaults(v.con, in, invalid, document.WithheldAll(in.Src)), console.ErrWrong)
}

// converted is the JSON form of the result of a conversion.
type converted struct {
	File     string          `json:"file"`
	From     convert.Format  `json:"from"`
	Links    int             `json:"links"`
	Losses   []jsonLoss      `json:"losses"`
	Snapshot json.RawMessage `json:"snapshot,omitempty"`
}

type jsonLoss struct {
	Pointer  string       `json:"pointer"`
	Resource string       `json:"resource,omitempty"`
	Code     convert.Code `json:"code"`
	Lost     bool         `json:"lost"`
	Message  string       `json:"message"`
}

// write prints the losses and writes the snapshot. With --strict, losses are an error.
func (v *converter) write(name string, in *document.Input, result *convert.Result) error {
	stop := v.strict && len(result.Losses) > 0
	if v.con.JSON {
		j := converted{File: in.Name, From: result.From, Links: result.Linked, Losses: []jsonLoss{}}
		for _, l := range result.Losses {
			j.Losses = append(j.Losses, jsonLoss{l.Pointer(), l.Resource(), l.Code, l.Lost(), l.Message})
		}
		if !stop && v.output.Name == "" {
			var err error
			if j.Snapshot, err = v.text(in, result); err != nil {
				return err
			}
		}
		if err := v.con.PrintJSON(j); err != nil {
			return err
		}
	} else {
		v.say(in, result)
	}
	switch {
	case stop:
		return nil
	case v.output.Name != "":
		return v.output.Write(v.con, name, func(w io.Writer) error { return lumigl.Write(w, result.Snapshot) }, 0o600)
	case v.con.JSON:
		return nil
	case v.con.Out.Terminal:
		text, err := v.text(in, result)
		if err != nil {
			return err
		}
		_, err = v.con.Stdout.Write(text)
		return err
	}
	return lumigl.Write(v.con.Stdout, result.Snapshot)
}

// text returns the snapshot's text, or an error if it contains secrets and standard output is a terminal.
func (v *converter) text(in *document.Input, result *convert.Result) ([]byte, error) {
	text, err := lumigl.Append(nil, result.Snapshot)
	if err != nil {
		return nil, err
	}
	return text, document.Withhold(v.con, in.Name, string(text), "use --output=FILE")
}

// say prints the losses and a summary as text.
func (v *converter) say(in *document.Input, result *convert.Result) {
	con, lost := v.con, 0
	for _, l := range result.Losses {
		what, style := "changed", term.BoldCyan
		if l.Lost() {
			what, style = "lost", term.BoldRed
			lost++
		}
		at := l.Pointer()
		if at == "" {
			at = "/"
		}
		if resource := l.Resource(); resource != "" {
			at += " (" + resource + ")"
		}
		fmt.Fprintf(con.Stderr, "%s %s %s %s\n", con.Err.Paint(term.Bold, term.Visible(in.Name)+":"), term.Visible(at)+":",
			con.Err.Paint(style, what+":"), term.Paragraph(l.Message+" ["+string(l.Code)+"]"))
	}
	text := fmt.Sprintf("%s, from %s: %s", in.Name, result.From, display.Summary(lumigl.Document(result.Snapshot)))
	if n := len(result.Losses); n > 0 {
		text += fmt.Sprintf("; %d lost, %d changed", lost, n-lost)
	}
	if v.strict && len(result.Losses) > 0 {
		text += "; nothing was written"
	}
	con.Say("%s", text)
}
