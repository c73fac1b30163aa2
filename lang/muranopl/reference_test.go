package muranopl_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const python = "/usr/bin/python3"

// kinds maps exceptions of the reference to error kinds.
var kinds = map[string]yaql.Kind{
	"SyntaxError": muranopl.Syntax, "DslSyntaxError": muranopl.Syntax, "DslInvalidOperationError": muranopl.Syntax,
	"DslContractSyntaxError": muranopl.Syntax, "InvalidLhsTargetError": muranopl.Syntax,
	"NoClassFound": muranopl.UnknownClass, "NoPackageForClassFound": muranopl.UnknownClass,
	"NoPropertyFound": muranopl.UnknownProperty, "PropertyReadError": muranopl.UnknownProperty,
	"PropertyWriteError": muranopl.UnknownProperty, "NoWriteAccessError": muranopl.ReadOnly, "NoWriteAccess": muranopl.ReadOnly,
	"UninitializedPropertyAccessError": muranopl.Uninitialized, "ContractViolationException": muranopl.Contract,
	"NoObjectFoundError": muranopl.UnknownObject, "ObjectDestroyedError": muranopl.Destroyed,
	"CircularExpressionDependenciesError": muranopl.Circular, "InvalidInheritanceError": muranopl.Inheritance,
	"MuranoPlException": muranopl.Thrown, "AmbiguousMethodName": yaql.Ambiguous, "AmbiguousPropertyNameError": yaql.Ambiguous,
	"RuntimeError":         yaql.Ambiguous, // if it is rethrown
	"NoMethodFound":        yaql.UnknownFunction,
	"YaqlGrammarException": yaql.Syntax, "YaqlLexicalException": yaql.Syntax,
	"NoFunctionRegisteredException": yaql.UnknownFunction, "NoMethodRegisteredException": yaql.UnknownFunction,
	"NoMatchingFunctionException": yaql.NoMatch, "NoMatchingMethodException": yaql.NoMatch,
	"AmbiguousFunctionException": yaql.Ambiguous, "AmbiguousMethodException": yaql.Ambiguous,
	"ArgumentException": yaql.Argument, "MappingTranslationException": yaql.Argument, "ArgumentValueException": yaql.Argument,
	"KeyError": yaql.Key, "IndexError": yaql.Index, "ValueError": yaql.Value, "OverflowError": yaql.Value, "StopIteration": yaql.Value,
	"TypeError": yaql.TypeError, "AttributeError": yaql.TypeError, "ZeroDivisionError": yaql.ZeroDivision,
	"CollectionTooLargeException": yaql.Limit, "MemoryQuotaExceededException": yaql.Limit, "RecursionError": yaql.Limit,
	"MemoryError": yaql.Limit, "Timeout": yaql.Limit,
}

// reference is a python3-murano process shared by all tests. It exits when its standard input is closed at the end of
// the tests.
type reference struct {
	t   testing.TB
	in  *json.Encoder
	out *bufio.Scanner
}

var (
	referenceTurn  sync.Mutex // held by a test while it makes requests
	referenceStart = sync.OnceValues(func() (*reference, error) {
		if err := exec.Command(python, "-c", "import murano.dsl").Run(); err != nil {
			return nil, nil
		}
		cmd := exec.Command(python, "-W", "ignore", "testdata/reference.py")
		cmd.Env = append(os.Environ(), "PYTHONHASHSEED=0")
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 64<<20)
		return &reference{in: json.NewEncoder(in), out: scanner}, cmd.Start()
	})
)

// request is a call of a method of a newly loaded model. Without a model, the root is an object of class t.Main with
// the id "main".
type request struct {
	Classes []string        `json:"classes,omitempty"` // files
	Model   json.RawMessage `json:"model"`
	Method  string          `json:"method"`
	Args    []any           `json:"args,omitempty"`
}

// answer is the output of 'lumi murano run', with the exception of the reference.
type answer struct {
	Value, Trace json.RawMessage
	Error        struct {
		Kind, Message string
		Names, Stack  []string
	}
}

// String formats an answer as in testdata/workflows.txt.
func (a answer) String() string {
	text := string(a.Value)
	if a.Error.Kind != "" {
		text = "error " + a.Error.Kind + ": " + a.Error.Message
		for _, line := range a.Error.Stack {
			text += "\nat " + line
		}
	}
	if string(a.Trace) != "[]" {
		text += "\ntraced " + string(a.Trace)
	}
	return text
}

func startReference(t testing.TB) *reference {
	t.Helper()
	r, err := referenceStart()
	switch {
	case err != nil:
		t.Fatal(err)
	case r == nil:
		t.Skipf("the reference is not available: %s cannot import murano (install Debian's python3-murano)", python)
	}
	referenceTurn.Lock()
	t.Cleanup(referenceTurn.Unlock)
	return &reference{t, r.in, r.out}
}

func (r *reference) ask(q request) answer {
	r.t.Helper()
	if err := r.in.Encode(q); err != nil {
		r.t.Fatal(err)
	}
	if !r.out.Scan() {
		r.t.Fatalf("the reference exited at %v: %v", q, r.out.Err())
	}
	var a answer
	if err := json.Unmarshal(r.out.Bytes(), &a); err != nil {
		r.t.Fatal(err)
	}
	if kind := a.Error.Kind; kind != "" {
		if kinds[kind] == "" {
			r.t.Errorf("unknown exception %s: %s", kind, a.Error.Message)
		}
		a.Error.Kind = string(kinds[kind])
		if strings.Contains(a.Error.Message, "Unknown namespace prefix") {
			a.Error.Kind = string(muranopl.UnknownClass)
		} else if strings.Contains(a.Error.Message, "Invalid type name") {
			a.Error.Kind = string(muranopl.Syntax)
		}
	}
	return a
}

// model returns a model that consists of an object of the given class.
func model(class string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"?": {"type": %q, "id": "main"}}`, class))
}

// run answers a request as the reference does.
func run(t testing.TB, q request) answer {
	t.Helper()
	files := fstest.MapFS{}
	for i, text := range q.Classes {
		files[fmt.Sprintf("%d.yaml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	classes, errs := catalog.Folder("", files)
	if len(errs) > 0 {
		t.Fatalf("Folder: %s\n%s", errs[0], q.Classes[len(q.Classes)-1])
	}
	var trace []any
	in := muranopl.New(classes, muranopl.Options{
		Sleep: func(context.Context, time.Duration) error { return nil },
		Functions: []*yaql.Function{yaql.Func("trace", "value any", func(c *yaql.Call) (any, error) {
			v, err := c.Settle(c.Arg(0))
			if err == nil {
				trace = append(trace, v)
			}
			return nil, err
		})},
	})
	var a answer
	v, err := call(t, in, q)
	if err != nil {
		var e *muranopl.Error
		if !errors.As(err, &e) {
			t.Fatalf("error = %v, want an *Error", err)
		}
		a.Error.Kind, a.Error.Message, a.Error.Names = string(e.Kind), e.Message, e.Names
		for _, f := range e.Trace {
			a.Error.Stack = append(a.Error.Stack, fmt.Sprintf("%d:%d in method %s of type %s: %s",
				f.Pos.Line, f.Pos.Column, f.Method, f.Class, f.Instruction))
		}
	} else {
		a.Value = encode(t, v)
	}
	a.Trace = encode(t, yaql.NewList(trace))
	return a
}

func call(t testing.TB, in *muranopl.Interpreter, q request) (any, error) {
	model := must.Get(catalog.Model("model", q.Model))(t)
	o, err := in.Load(t.Context(), model)
	if err != nil {
		return nil, err
	}
	args := make([]any, len(q.Args))
	for i, v := range q.Args {
		if args[i], err = yaql.FromGo(v); err != nil {
			t.Fatal(err)
		}
	}
	return in.Call(t.Context(), o, q.Method, args...)
}

// encode encodes a value as testdata/reference.py does.
func encode(t testing.TB, v any) json.RawMessage {
	return must.Get(yaql.AppendJSON(nil, named(v)))(t)
}

// named returns v with objects and classes replaced by their names.
func named(v any) any {
	switch v := v.(type) {
	case *muranopl.Object:
		d := yaql.NewDict()
		_ = d.Set("?", v.Class().Name)
		return d
	case *muranopl.Class:
		return v.Name
	case *yaql.List:
		items := make([]any, v.Len())
		for i, item := range v.Items() {
			items[i] = named(item)
		}
		return yaql.NewList(items)
	case *yaql.Set:
		return named(yaql.NewList(v.Items()))
	case *yaql.Dict:
		d := yaql.NewDict()
		for key, item := range v.All() {
			if _, ok := key.(string); !ok {
				text, _ := yaql.AppendJSON(nil, named(key))
				key = string(text)
			}
			_ = d.Set(key, named(item))
		}
		return d
	}
	return v
}

// difference returns a description of the difference between an answer and the reference's answer, or "".
func difference(got, want answer) string {
	switch {
	case got.Error.Kind != want.Error.Kind || string(got.Value) != string(want.Value):
		return fmt.Sprintf("is %s%s %s\n, in the reference %s%s %s", got.Value, got.Error.Kind, got.Error.Message,
			want.Value, want.Error.Kind, want.Error.Message)
	case string(got.Trace) != string(want.Trace):
		return fmt.Sprintf("traces\n %s, in the reference\n %s", got.Trace, want.Trace)
	}
	return ""
}
