package languages

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/internal/yamltree"
	"github.com/lumi-idl/lumi/lang/yaql"
)

// evaluator is an invocation of 'lumi yaql'.
type evaluator struct {
	con                *console.Console
	variables, options []string // each is NAME=JSON
	request
}

// request is the input of an evaluation.
type request struct {
	in      *yaql.Context
	options yaql.Options
}

func newYaqlCommand(con *console.Console) *cobra.Command {
	e, batch := evaluator{con: con}, false
	c := &cobra.Command{
		Use:   "yaql [[EXPRESSION] FILE]",
		Short: "evaluate YAQL expressions over JSON, YAML, and LumiGL",
		Long: `Evaluate a YAQL expression, where $ is the content of FILE: JSON, YAML, LumiGL, - for standard
input, or env:NAME for the state of an environment. Text is printed as it is, other values as JSON;
with --json, all values are JSON. Without EXPRESSION, it reads expressions from the terminal until
\q or Ctrl-D. Secrets are masked, and limits on items, memory, and depth always apply.

With --batch, each line of standard input is {"expression", "data", "variables", "options"}, of
which only the first is required, and gets a response {"value"} or {"error": {"kind", "message"}}.
docs/yaql.md explains the language.`,
		Annotations: console.ExitCodes("the value is printed", "the expression has an error", "a file cannot be read, or a usage or system error"),
		Example: console.Examples(
			"Which ids do the resources of a snapshot have?", "lumi yaql -- '$.resources.values().select($.id)' prod.json",
			"Use a variable.", "lumi yaql --json --var=n=7 -- '$.serial = $n' prod.json",
			"Evaluate many expressions in one process.", `echo "{\"expression\": \"1 + 1\"}" | lumi yaql --batch`,
		),
		ValidArgsFunction: document.CompleteFiles,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case !batch:
				return e.run(c.Context())
			case len(con.Args)+len(e.variables)+len(e.options) > 0:
				return console.Misused("--batch cannot be combined with a file, --var, or --option")
			}
			return e.serve(c.Context())
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&e.variables, "var", nil, "set a variable, as `NAME=JSON`; may be repeated")
	flags.StringArrayVar(&e.options, "option", nil, "set an option, as `NAME=JSON`, such as limitIterators=1000; may be repeated")
	flags.BoolVar(&batch, "batch", false, "answer the requests on standard input, one per line")
	_ = c.RegisterFlagCompletionFunc("var", cobra.NoFileCompletions)
	_ = c.RegisterFlagCompletionFunc("option", cobra.FixedCompletions([]string{
		"limitIterators=", "memoryQuota=", "depth=", "convertTuplesToLists=", "convertSetsToLists=", "iterableDicts=", "delegates=",
	}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	return c
}

// assigned parses the values of a flag. Each has the form NAME=JSON.
func assigned(flag string, given []string) (*yaql.Dict, error) {
	d := yaql.NewDict()
	for _, one := range given {
		name, text, _ := strings.Cut(one, "=")
		value, err := yaql.FromJSON([]byte(text))
		if name == "" || err != nil {
			return nil, console.Misused(`--%s=%s: must be NAME=JSON, such as n=1 or n='"text"'`, flag, one)
		}
		_ = d.Set(name, value) // string keys are always valid
	}
	return d, nil
}

// newRequest returns a request for the given data. Variables and options are JSON objects.
func newRequest(data any, variables, options *yaql.Dict) (r request, err error) {
	r.options = yaql.DefaultOptions()
	for name, value := range options.All() {
		if err := r.options.Set(name.(string), value); err != nil {
			return r, err
		}
	}
	r.options.ConvertOutputData = true // lazy sequences cannot be printed
	r.in = yaql.New(yaql.Standard(r.options.Delegates))
	for name, value := range variables.All() {
		r.in.Set(name.(string), value)
	}
	r.in.Set("$", data)
	return r, nil
}

func (r *request) evaluate(ctx context.Context, source string) (any, error) {
	x, err := yaql.Compile(source, yaql.WithOptions(r.options))
	if err != nil {
		return nil, err
	}
	return x.EvaluateIn(ctx, r.in)
}

// jsonOf returns value as a line of JSON. It returns an error if value has no JSON form.
func jsonOf(value any) ([]byte, error) {
	text, err := yaql.AppendJSON(nil, value)
	if err != nil {
		return nil, err
	}
	if text, err = term.JSON(json.RawMessage(text)); err != nil {
		return nil, yaql.Errorf(yaql.Limit, "the value is nested too deeply")
	}
	return text, nil
}

func (e *evaluator) run(ctx context.Context) error {
	args := e.con.Args
	interactive := len(args) < 2
	if interactive && (!e.con.StdinIsTerminal || !e.con.Out.Terminal || len(args) == 1 && args[0] == document.StdinArg) {
		return console.Misused("an expression and a file are required unless standard input is a terminal")
	}
	variables, err := assigned("var", e.variables)
	if err != nil {
		return err
	}
	options, err := assigned("option", e.options)
	if err != nil {
		return err
	}
	var data any
	if len(args) > 0 {
		in, err := document.Read(e.con, args[len(args)-1])
		if err != nil {
			return err
		}
		if data, err = dataOf(in); err != nil {
			return err
		}
	}
	if e.request, err = newRequest(data, variables, options); err != nil {
		return console.Misused("--option: %s", err)
	}
	if interactive {
		return e.repl(ctx)
	}
	return e.print(ctx, args[0])
}

// print evaluates an expression and prints its value. If evaluation fails, print explains the error and returns
// [console.ErrWrong].
func (e *evaluator) print(ctx context.Context, source string) error {
	defer time.AfterFunc(term.Patience, func() { e.con.Doing("evaluating") }).Stop()
	value, err := e.evaluate(ctx, source)
	if err == nil {
		err = printValue(e.con, value)
	}
	if err != nil {
		e.explain(err)
		return console.ErrWrong
	}
	return nil
}

// printValue prints a string as plain text and any other value as indented JSON. With --json, it prints every value as
// one line of JSON.
func printValue(con *console.Console, value any) error {
	text, err := jsonOf(value)
	switch s, isText := value.(string); {
	case err != nil:
		return err
	case con.JSON:
		con.Printf("%s\n", text)
	case isText:
		for line := range strings.SplitSeq(s, "\n") {
			con.Printf("%s\n", term.Visible(line))
		}
	default:
		var indented bytes.Buffer
		_ = json.Indent(&indented, text, "", "  ") // text is valid JSON
		con.Printf("%s\n", &indented)
	}
	return nil
}

// explain prints an evaluation error with its position.
func (e *evaluator) explain(err error) {
	wrong, where, con := new(yaql.Error), "expression:", e.con
	errors.As(err, &wrong) // all evaluation errors have this type
	if wrong.Line > 0 {
		where = fmt.Sprintf("expression:%d:%d:", wrong.Line, wrong.Column)
	}
	fmt.Fprintf(con.Stderr, "%s %s %s\n", con.Err.Paint(term.Bold, where), con.Err.Paint(term.BoldRed, "error:"),
		term.Paragraph(wrong.Message+" ["+string(wrong.Kind)+"]"))
	for line := range strings.Lines(wrong.Snippet()) {
		fmt.Fprintf(con.Stderr, "    %s\n", term.Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", " ")))
	}
}

// maskedIn returns src with secrets masked. It returns an error if src contains secrets but is not valid JSON.
func maskedIn(name, src string) (string, error) {
	switch {
	case !document.IsSigned(src):
		return src, nil
	case !json.Valid([]byte(src)):
		return "", fmt.Errorf("%s contains secrets, which can be masked only in valid JSON", name)
	}
	return document.SignedIn(src).Mask(src), nil
}

// dataOf parses a file as JSON or YAML, with secrets masked.
func dataOf(in *document.Input) (any, error) {
	signed := document.IsSigned(in.Src)
	src, err := maskedIn(in.Name, in.Src)
	if err != nil {
		return nil, err
	}
	data, err := yaql.FromJSON([]byte(src))
	if err != nil && !signed && filepath.Ext(in.Name) != ".json" {
		var wrong error
		data, wrong = fromYAML(src)
		isYAML := strings.HasPrefix(filepath.Ext(in.Name), ".y")
		if wrong == nil || isYAML || strings.IndexAny(strings.TrimSpace(src), "{[") != 0 { // the file is not meant as JSON
			err = wrong
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%w", in.Name, err)
	}
	return data, nil
}

// fromYAML converts a YAML document to YAQL data. An empty document is null.
func fromYAML(src string) (any, error) {
	documents, errs := yamltree.Read([]byte(src))
	switch {
	case len(errs) > 0:
		return nil, errs[0]
	case len(documents) == 0:
		return nil, nil
	case len(documents) > 1:
		return nil, yamltree.At(documents[1], "unexpected second document")
	}
	return fromNode(documents[0].Content[0])
}

func fromNode(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.SequenceNode:
		items := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if items[i], err = fromNode(item); err != nil {
				return nil, err
			}
		}
		return yaql.FromGo(items)
	case yaml.MappingNode:
		d := yaql.NewDict()
		for i := 0; i < len(n.Content); i += 2 {
			key, err := fromNode(n.Content[i])
			if err != nil {
				return nil, err
			}
			value, err := fromNode(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			if _, twice, _ := d.Get(key); twice { // for example, 1 and 1.0
				return nil, yamltree.At(n.Content[i], "duplicate key")
			}
			if err := d.Set(key, value); err != nil {
				return nil, yamltree.At(n.Content[i], "invalid key: %s", err)
			}
		}
		return d, nil
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, yamltree.At(n, "invalid %s", cmp.Or(strings.TrimPrefix(n.ShortTag(), "!!"), "value"))
	}
	if _, rounded := v.(float64); rounded {
		if whole, ok := new(big.Int).SetString(n.Value, 10); ok {
			return whole, nil
		}
	}
	return yaql.FromGo(v)
}
