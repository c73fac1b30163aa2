package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lang/yaql"
)

// evaluator is one run of 'lumi yaql'.
type evaluator struct {
	env                *environment
	variables, options []string // NAME=JSON
	request
}

// request is what an expression is evaluated with.
type request struct {
	in      *yaql.Context
	options yaql.Options
}

func yaqlCommand(env *environment) *cobra.Command {
	e, batch := evaluator{env: env}, false
	c := &cobra.Command{
		Use:   "yaql [[EXPRESSION] FILE]",
		Short: "evaluate YAQL expressions over JSON, YAML and LumiGL",
		Long: `It evaluates an expression in YAQL, the query language of OpenStack, for the content of FILE, which is
$ in it, and prints the value: text as it is, other values as JSON. docs/yaql.md explains the language.

FILE has JSON, which LumiGL is, or YAML; - is standard input, and env:NAME the state of an environment.
The value of a secret in LumiGL is "(secret)".

With --json, the value is JSON on one line, also if it is text. In both cases, sets and sequences are
lists, and keys that are not text are the JSON of the key.

Without EXPRESSION, it reads expressions from a terminal, one a line, until \q or Ctrl-D.

With --batch, each line of standard input is {"expression", "data", "variables", "options"}, of which
only the first is required, and is answered with a line {"value": …} or {"error": {"kind", "message"}}.

Expressions cannot reach anything but the data. Limits on items, memory and depth always apply.`,
		Annotations: exits("the value is printed", "the expression has an error", "a file cannot be read, the command was used wrongly, or the system failed"),
		Example: examples(
			"Which ids do the resources of a snapshot have?", "lumi yaql -- '$.resources.values().select($.id)' prod.json",
			"Use a variable.", "lumi yaql --json --var=n=7 -- '$.serial = $n' prod.json",
			"Evaluate many expressions in one process.", `echo "{\"expression\": \"1 + 1\"}" | lumi yaql --batch`,
		),
		ValidArgsFunction: completeFiles,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case !batch:
				return e.run(c.Context())
			case len(env.args)+len(e.variables)+len(e.options) > 0:
				return misused("--batch takes everything from standard input")
			}
			return e.serve(c.Context())
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&e.variables, "var", nil, "set a variable by `NAME=JSON`; may be repeated")
	flags.StringArrayVar(&e.options, "option", nil, "set an option by `NAME=JSON`, such as limitIterators=1000; may be repeated")
	flags.BoolVar(&batch, "batch", false, "answer the requests on standard input, a line each")
	_ = c.RegisterFlagCompletionFunc("var", cobra.NoFileCompletions)
	_ = c.RegisterFlagCompletionFunc("option", cobra.FixedCompletions([]string{
		"limitIterators=", "memoryQuota=", "depth=", "convertTuplesToLists=", "convertSetsToLists=", "iterableDicts=", "delegates=",
	}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	return c
}

// assigned returns the values of a flag, NAME=JSON.
func assigned(flag string, given []string) (*yaql.Dict, error) {
	d := yaql.NewDict()
	for _, one := range given {
		name, text, _ := strings.Cut(one, "=")
		value, err := yaql.FromJSON([]byte(text))
		if name == "" || err != nil {
			return nil, misused(`--%s=%s: it takes NAME=JSON, such as n=1 or n='"text"'`, flag, one)
		}
		_ = d.Set(name, value) // Strings are always keys.
	}
	return d, nil
}

// newRequest returns a request with data, variables and options, which are objects of JSON.
func newRequest(data any, variables, options *yaql.Dict) (r request, err error) {
	r.options = yaql.DefaultOptions()
	for name, value := range options.All() {
		if err := r.options.Set(name.(string), value); err != nil {
			return r, err
		}
	}
	r.options.ConvertOutputData = true // A sequence that is not read could not be printed.
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

// jsonOf returns the JSON of a value on one line.
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
	args := e.env.args
	interactive := len(args) < 2
	if interactive && (!e.env.in || !e.env.out.Terminal || len(args) == 1 && args[0] == stdinArg) {
		return misused("give an expression and a file; expressions are read from terminals only")
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
		in, err := e.env.readInput(args[len(args)-1])
		if err != nil {
			return err
		}
		if data, err = dataOf(in); err != nil {
			return err
		}
	}
	if e.request, err = newRequest(data, variables, options); err != nil {
		return misused("--option: %s", err)
	}
	if interactive {
		return e.repl(ctx)
	}
	return e.print(ctx, args[0])
}

// print evaluates an expression and prints its value. It prints an error in the expression, too, and returns errWrong.
func (e *evaluator) print(ctx context.Context, source string) error {
	defer time.AfterFunc(term.Patience, func() { e.env.doing("evaluating") }).Stop()
	value, err := e.evaluate(ctx, source)
	var text []byte
	if err == nil {
		text, err = jsonOf(value)
	}
	if err != nil {
		e.explain(err)
		return errWrong
	}
	switch s, isText := value.(string); {
	case e.env.json:
		e.env.printf("%s\n", text)
	case isText:
		for line := range strings.SplitSeq(s, "\n") {
			e.env.printf("%s\n", term.Visible(line))
		}
	default:
		var indented bytes.Buffer
		_ = json.Indent(&indented, text, "", "  ") // It is valid.
		e.env.printf("%s\n", &indented)
	}
	return nil
}

// explain prints an error in an expression.
func (e *evaluator) explain(err error) {
	wrong, where, env := new(yaql.Error), "expression:", e.env
	errors.As(err, &wrong) // All are.
	if wrong.Line > 0 {
		where = fmt.Sprintf("expression:%d:%d:", wrong.Line, wrong.Column)
	}
	fmt.Fprintf(env.stderr, "%s %s %s\n", env.err.Paint(term.Bold, where), env.err.Paint(term.BoldRed, "error:"),
		term.Paragraph(wrong.Message+" ["+string(wrong.Kind)+"]"))
	for line := range strings.Lines(wrong.Snippet()) {
		fmt.Fprintf(env.stderr, "    %s\n", term.Visible(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", " ")))
	}
}

// dataOf returns the content of a file without the values of secrets.
func dataOf(in *input) (any, error) {
	src := in.src
	signed := isSigned(src)
	if signed {
		if !json.Valid([]byte(src)) {
			return nil, fmt.Errorf("%s has secrets, which can be masked in valid JSON only", in.name)
		}
		src = signedIn(src).mask(src)
	}
	data, err := yaql.FromJSON([]byte(src))
	if err != nil && !signed && filepath.Ext(in.name) != ".json" {
		var wrong error
		data, wrong = fromYAML(src)
		if wrong == nil || strings.IndexAny(strings.TrimSpace(src), "{[") != 0 { // It was not meant as JSON.
			err = wrong
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%w", in.name, err)
	}
	return data, nil
}

// yamlReader reads nodes of YAML. Aliases are expanded, within limits.
type yamlReader struct{ aliases, expanded int }

const maxYAMLExpanded = 100_000

// fromYAML returns the value of a YAML document for YAQL, null if it is empty.
func fromYAML(src string) (any, error) {
	decoder := yaml.NewDecoder(strings.NewReader(src))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil {
		if err = decoder.Decode(&second); err == nil {
			return nil, yamlError(&second, "a second document begins here; there must be only one")
		}
	}
	var wrong *yaml.LoadError
	switch {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("%d:%d: invalid YAML: %s", max(wrong.Mark.Line, 1), max(wrong.Mark.Column, 1), wrong.Message)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("1:1: invalid YAML: %w", err)
	case len(document.Content) == 0:
		return nil, nil
	}
	return new(yamlReader).value(document.Content[0])
}

func yamlError(at *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%d:%d: %s", at.Line, at.Column, fmt.Sprintf(format, args...))
}

func (r *yamlReader) value(n *yaml.Node) (any, error) {
	if r.aliases > 0 {
		r.expanded++
	}
	if r.expanded > maxYAMLExpanded {
		return nil, yamlError(n, "aliases stand for more than %d values", maxYAMLExpanded)
	}
	switch n.Kind {
	case yaml.AliasNode:
		r.aliases++
		defer func() { r.aliases-- }()
		return r.value(n.Alias)
	case yaml.SequenceNode:
		items := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if items[i], err = r.value(item); err != nil {
				return nil, err
			}
		}
		return yaql.FromGo(items)
	case yaml.MappingNode:
		return r.mapping(n)
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, yamlError(n, "invalid %s", cmp.Or(strings.TrimPrefix(n.ShortTag(), "!!"), "value"))
	}
	if _, rounded := v.(float64); rounded {
		if whole, ok := new(big.Int).SetString(n.Value, 10); ok {
			return whole, nil
		}
	}
	return yaql.FromGo(v)
}

// mapping reads a mapping. What is merged with << comes first, and gives way to the mapping's own keys.
func (r *yamlReader) mapping(n *yaml.Node) (any, error) {
	merged, own := yaql.NewDict(), yaql.NewDict()
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := r.value(n.Content[i])
		if err != nil {
			return nil, err
		}
		value, err := r.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		if n.Content[i].ShortTag() == "!!merge" {
			if !merge(merged, value) {
				return nil, yamlError(n.Content[i+1], "only mappings can be merged")
			}
			continue
		}
		if _, twice, _ := own.Get(key); twice {
			return nil, yamlError(n.Content[i], "duplicate key")
		}
		if err := own.Set(key, value); err != nil {
			return nil, yamlError(n.Content[i], "invalid key: %s", err)
		}
	}
	for key, value := range own.All() {
		_ = merged.Set(key, value) // It was a key before.
	}
	return merged, nil
}

// merge adds to d what it lacks of a mapping, or of the mappings of a list.
func merge(d *yaql.Dict, from any) bool {
	switch from := from.(type) {
	case *yaql.List:
		return !slices.ContainsFunc(from.Items(), func(one any) bool { return !merge(d, one) })
	case *yaql.Dict:
		for key, value := range from.All() {
			if _, has, _ := d.Get(key); !has {
				_ = d.Set(key, value)
			}
		}
		return true
	}
	return false
}
