package languages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/muranopl/desired"
	"github.com/lumi-idl/lumi/lang/yaql"
)

// muranoRun is an invocation of 'lumi murano run'.
type muranoRun struct {
	con                         *console.Console
	classes                     []string
	model, object, method, args string
	maxSteps                    int
	catalog                     *catalog.Catalog
}

func newMuranoRunCommand(con *console.Console) *cobra.Command {
	r, batch := muranoRun{con: con}, false
	c := &cobra.Command{
		Use:   "run",
		Short: "call a method of an object model",
		Long: `Load an object model, call a method of the root object or of --object, and print the result:
strings as they are, other values as JSON, objects as models. A failed method prints its stack
trace. Arguments are JSON; an object with "?" refers to an object of the model. trace(value) prints
to standard error.

With --json, it prints {"value", "trace"} or {"error": {"kind", "message"}, "trace"}. With --batch,
each line of standard input is a request {"model", "object", "method", "args"} and gets one such
line as a response.`,
		Annotations: console.ExitCodes("the method returned; with --batch, all lines are answered", "the method failed, or the classes or the model have errors",
			"a file cannot be read, or a usage or system error"),
		Example: console.Examples(
			"Call a method without arguments.", "lumi murano run --classes=murano --model=env.json --method=report",
			"Call a method of another object, with arguments.", `lumi murano run --classes=murano --model=env.json --object=front --method=greet --args="[\"Ada\", 3]" --json`,
			"Call many methods in one process.", `jq -c "{model: ., method: \"report\"}" env.json | lumi murano run --classes=murano --batch`,
		),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case len(r.classes) == 0:
				return console.Misused("missing --classes=DIR")
			case r.maxSteps < 1:
				return console.Misused("--max-steps=%d: must be at least 1", r.maxSteps)
			case batch && r.model+r.method+r.object+r.args != "":
				return console.Misused("--batch cannot be combined with --model, --method, --object, or --args")
			case !batch && r.model == "":
				return console.Misused("missing --model=FILE")
			case !batch && r.method == "":
				return console.Misused("missing --method=NAME")
			}
			var err error
			if r.catalog, err = document.OpenClasses(con, r.classes); err != nil {
				return r.fail(err)
			}
			if batch {
				return serveLines(con, func(line []byte) []byte {
					a := r.reply(c.Context(), line)
					return a.json()
				})
			}
			return r.run(c.Context())
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&r.classes, "classes", nil, "the `DIR` or archive of the classes; may be repeated")
	flags.StringVar(&r.model, "model", "", "the `FILE` of the object model; - is standard input")
	flags.StringVar(&r.method, "method", "", "the `NAME` of the method")
	flags.StringVar(&r.object, "object", "", "the `ID` of the object; by default the root")
	flags.StringVar(&r.args, "args", "", "the arguments, as a JSON `LIST`")
	flags.IntVar(&r.maxSteps, "max-steps", muranopl.DefaultMaxSteps, "execute at most `N` instructions")
	flags.BoolVar(&batch, "batch", false, "answer the requests on standard input, one per line")
	_ = c.MarkFlagFilename("model", "json", "yaml", "yml")
	return c
}

// muranoAnswer is the result of a method call.
type muranoAnswer struct {
	value any
	trace []any
	err   error
}

// maxTrace is the maximum size of a call's traced values as JSON, in bytes.
const maxTrace = 64 << 20

// traceFunction returns the trace function of 'lumi murano run'.
func traceFunction(call func(*yaql.Call) (any, error)) *yaql.Function {
	return yaql.Func("trace", "value any", call)
}

// call calls a method of a model and returns the answer. Each traced value is also passed to traced, as JSON.
func (r *muranoRun) call(ctx context.Context, model *muranopl.Node, object, method string, args []any, traced func(string)) (a muranoAnswer) {
	library := desired.Library(func(level, message string) {
		if !r.con.JSON && r.model != "" {
			r.con.Say("%s: %s", level, message)
		}
	})
	size := 0
	in := muranopl.New(muranopl.Resolvers{r.catalog, library}, muranopl.Options{MaxSteps: r.maxSteps, Functions: []*yaql.Function{
		traceFunction(func(c *yaql.Call) (any, error) {
			v, err := c.Settle(c.Arg(0))
			if err != nil {
				return nil, err
			}
			v = muranopl.Portable(v)
			text, err := jsonOf(v)
			if size += len(text); err == nil && size > maxTrace {
				err = yaql.Errorf(yaql.Limit, "trace of more than %d MiB", maxTrace>>20)
			}
			if err == nil {
				a.trace = append(a.trace, v)
				traced(string(text))
			}
			return nil, err
		}),
	}})
	o, err := in.Load(ctx, model)
	if err == nil && object != "" {
		if o = in.Object(object); o == nil {
			err = &muranopl.Error{Kind: muranopl.UnknownObject, Message: fmt.Sprintf("no object has the id %q", object)}
		}
	}
	if err == nil {
		a.value, err = in.Call(ctx, o, method, args...)
	}
	a.value, a.err = muranopl.Portable(a.value), err
	return a
}

// json returns the answer as one line of JSON. If the value has no JSON form, the answer is an error.
func (a *muranoAnswer) json() []byte {
	trace := yaql.NewList(a.trace)
	if a.err == nil {
		var text []byte
		if text, a.err = jsonOf(object("value", a.value, "trace", trace)); a.err == nil {
			return text
		}
	}
	err := a.err
	kind, message := yaql.Argument, "invalid request: "+strings.TrimPrefix(err.Error(), "json: ")
	if errs, ok := errors.AsType[catalog.Errors](err); ok {
		err = errs[0]
	}
	if wrong, ok := errors.AsType[*muranopl.Error](err); ok {
		kind, message = wrong.Kind, wrong.Error()
	} else if wrong, ok := errors.AsType[*yaql.Error](err); ok {
		kind, message = wrong.Kind, wrong.Error()
	}
	text, _ := jsonOf(object("error", object("kind", string(kind), "message", message), "trace", trace)) // all parts are valid JSON
	return text
}

func (r *muranoRun) run(ctx context.Context) error {
	in, err := document.ReadFile(r.con, r.model)
	if err != nil {
		return err
	}
	if in.Src, err = maskedIn(in.Name, in.Src); err != nil {
		return err
	}
	var args []any
	if r.args != "" {
		v, err := yaql.FromJSON([]byte(r.args))
		list, ok := v.(*yaql.List)
		if err != nil || !ok {
			return console.Misused(`--args=%s: must be a JSON list, such as [1, "text"]`, r.args)
		}
		args = list.Items()
	}
	model, err := catalog.Model(in.Name, []byte(in.Src))
	r.catalog.Sources[in.Name] = in.Src
	if err != nil {
		return r.fail(err)
	}
	defer time.AfterFunc(term.Patience, func() { r.con.Doing("running %s", r.method) }).Stop()
	a := r.call(ctx, model, r.object, r.method, args, func(text string) {
		if !r.con.JSON {
			fmt.Fprintf(r.con.Stderr, "%s %s\n", r.con.Err.Paint(term.BoldCyan, "trace:"), text)
		}
	})
	switch {
	case a.err != nil:
		return r.fail(a.err, a.trace...)
	case r.con.JSON:
		if r.con.Printf("%s\n", a.json()); a.err != nil {
			return console.ErrWrong
		}
		return nil
	}
	return printValue(r.con, a.value)
}

// fail prints errors or, with --json, an answer that contains the first of them.
func (r *muranoRun) fail(err error, trace ...any) error {
	if r.con.JSON && r.catalog != nil {
		r.con.Printf("%s\n", (&muranoAnswer{trace: trace, err: err}).json())
		return console.ErrWrong
	}
	return document.PrintClassErrors(r.con, r.catalog, err)
}

// reply returns the answer to a request line.
func (r *muranoRun) reply(ctx context.Context, line []byte) muranoAnswer {
	var request struct {
		Model, Args    json.RawMessage
		Object, Method string
	}
	text, err := maskedIn("it", string(line))
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err == nil {
		err = decoder.Decode(&request)
	}
	wrong := (*json.UnmarshalTypeError)(nil)
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		err = fmt.Errorf("%q must be a string", strings.ToLower(wrong.Field))
	case wrong != nil, errors.Is(err, io.EOF), err == nil && !errors.Is(decoder.Decode(new(any)), io.EOF):
		err = errors.New("must be a single object")
	}
	if len(request.Args) == 0 || string(request.Args) == "null" {
		request.Args = []byte("[]")
	}
	var args any
	if err == nil {
		args, err = yaql.FromJSON(request.Args)
	}
	list, ok := args.(*yaql.List)
	switch {
	case err != nil:
	case len(request.Model) == 0 || request.Method == "":
		err = errors.New(`"model" and "method" are required`)
	case !ok:
		err = errors.New(`"args" must be a list`)
	}
	if err != nil {
		return muranoAnswer{err: err}
	}
	model, err := catalog.Model("model", request.Model)
	if err != nil {
		return muranoAnswer{err: err}
	}
	return r.call(ctx, model, request.Object, request.Method, list.Items(), func(string) {})
}
