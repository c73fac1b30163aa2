package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/bags"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// search is like a generated struct of a function.
type search struct {
	Do       string
	Secret   *string
	Attached *lumi.Asset
	Result   string
	Token    *string
	List     []string
}

func (s *search) Lumi(p *lumi.Props) {
	lumi.Required(p, "do", &s.Do, lumi.With(lumi.String, lumi.MinLength(1)))
	lumi.Optional(p, "secret", &s.Secret, lumi.String, lumi.Secret)
	lumi.Optional(p, "attached", &s.Attached, lumi.AssetValue)
	lumi.Required(p, "result", &s.Result, lumi.String, lumi.Out)
	lumi.Optional(p, "token", &s.Token, lumi.String, lumi.Out, lumi.Secret)
	lumi.Required(p, "list", &s.List, lumi.List(lumi.String), lumi.Out)
}

const searchToken tokens.Type = "test:index:Search"

func functions() map[tokens.Type]lumi.Function {
	return map[tokens.Type]lumi.Function{searchToken: lumi.NewFunction(searchToken, func() *search { return new(search) }, runSearch)}
}

// runSearch is the code of the function: the behavior selected by "do", as in the operations of things.
func runSearch(ctx context.Context, call *search, refs lumi.References) error {
	s := &state{Properties: &thing{Do: call.Do, Secret: call.Secret}, Refs: refs}
	if strings.HasPrefix(call.Do, "token ") {
		call.Token = new(strings.TrimPrefix(call.Do, "token "))
		return fmt.Errorf("no %s", *call.Token)
	}
	err := ops{}.do(ctx, s)
	if call.Result, call.Token, call.List = "found", call.Secret, []string{"a"}; s.Properties.Result != nil {
		call.Result = *s.Properties.Result
	}
	if call.Do == "incomplete" {
		call.Result, call.List = "\xff", nil
	}
	return err
}

// callOf returns a request with the arguments of a call.
func callOf(do string, more ...string) *lumi.CallRequest {
	bag := thingBag(do, more...)
	delete(bag.Fields, "name")
	return &lumi.CallRequest{Arguments: lumi.BagOf(bag)}
}

// Calls over a connection and by a Local return the same results and errors as direct calls.
func TestSameResults(t *testing.T) {
	unknown, refers := callOf("nothing"), callOf("reference")
	bags.Set(&unknown.Arguments, "secret", lumi.NewUnknown())
	refers.References = lumi.References{otherURN: {ID: "o-1", Properties: lumi.BagOf(thingBag("nothing"))}}
	remote, local := start(t, "plugin"), local(t, "plugin")
	for name, test := range map[string]struct {
		call *lumi.CallRequest
		want string // the results or the error
	}{
		"nothing":   {callOf("nothing"), `{"list":["a"],"result":"found"}`},
		"secret":    {callOf("nothing", "secret", "hush"), `{"list":["a"],"result":"found","token":"(secret)"}`},
		"reference": {refers, `{"list":["a"],"result":"o-1 a"}`},
		"invalid": {callOf("", "nonsense", "x", "result", "y"), "do: must have at least 1 character, found 0\n" +
			"result: is set by the provider, not by a program\nnonsense: no such property"},
		"none":       {&lumi.CallRequest{}, "do: is required, but missing"},
		"unknown":    {unknown, "secret: must be known here, but is not known yet"},
		"fault":      {callOf("fault"), "do: is a fault\nlist[0]: is another"},
		"fail":       {callOf("fail"), "failed"},
		"retry":      {callOf("retry"), "slow down: too fast"},
		"missing":    {callOf("missing x"), "x: no such resource"},
		"incomplete": {callOf("incomplete"), "the provider returned an invalid result: result: is not valid UTF-8\nlist: is required, but missing"},
	} {
		t.Run(name, func(t *testing.T) {
			want, wantErr := functions()[searchToken].Call(t.Context(), test.call)
			for _, p := range []called{remote, local} {
				got, gotErr := must.Get(p.Function(searchToken))(t).Call(within(t), test.call)
				if diff := cmp.Diff(want, got, sameBags); diff != "" {
					t.Errorf("Call of %T (-direct +got):\n%s", p, diff)
				}
				sameError(t, wantErr, gotErr)
				text := fmt.Sprint(gotErr)
				if gotErr == nil {
					text = got.Results.String()
				}
				if text != test.want {
					t.Errorf("Call = %s, want %s", text, test.want)
				}
			}
		})
	}
}

func TestFunctionOfPlugin(t *testing.T) {
	p := start(t, "plugin")
	if !slices.Equal(p.Functions, []tokens.Type{searchToken}) {
		t.Errorf("Functions = %v, want %s", p.Functions, searchToken)
	}
	_, err := p.Function(thingToken)
	if want := `the plugin for package "test" does not serve function "test:index:Thing"`; err == nil || err.Error() != want {
		t.Errorf("Function error = %v, want %s", err, want)
	}
	if _, err := p.Resource(searchToken); err == nil {
		t.Error("Resource of a function returned nil, want an error")
	}
	search := must.Get(p.Function(searchToken))(t)
	if d := must.Get(search.Describe(within(t)))(t); !d.Function || d.Type != searchToken {
		t.Errorf("Describe = %+v, want the function", d)
	}
	ended := "the provider ended its goroutine, as runtime.Goexit and testing.T.FailNow do"
	for do, want := range map[string]string{
		"panic": "the provider panicked: runtime error: index out of range [7] with length 0", "exit": ended,
	} {
		var e *plugin.Error
		if _, err := search.Call(within(t), callOf(do)); !errors.As(err, &e) || e.Code != codes.Internal || e.Message != want {
			t.Errorf("Call error = %v, want Internal: %s", err, want)
		}
	}
	if _, err := search.Call(within(t), callOf("token made-by-it")); err == nil || err.Error() != "no (secret)" {
		t.Errorf("Call error = %v, want the result masked", err)
	}
	must.Do(t, p.Close())
	if log := p.log.String(); strings.Contains(log, "made-by-it") {
		t.Errorf("the log contains a secret: %s", log)
	}
}

// Faults of missing files are reported with all other faults.
func TestFunctionFiles(t *testing.T) {
	search := must.Get(start(t, "plugin").Function(searchToken))(t)
	call := callOf("")
	bags.Set(&call.Arguments, "attached", structpb.NewStructValue(jsonBag(t, `{"$sig": "$asset", "path": "gone"}`)))
	_, err := search.Call(within(t), call)
	folder := must.Get(os.Getwd())(t)
	if want := fmt.Sprintf("do: must have at least 1 character, found 0\nattached: %q: no such file in %q", "gone", folder); err == nil || err.Error() != want {
		t.Errorf("Call error = %v, want %s", err, want)
	}
}

func TestFunctionBeforeConfigure(t *testing.T) {
	search := must.Get(start(t, "configurable").Function(searchToken))(t)
	var e *plugin.Error
	_, err := search.Call(within(t), callOf("nothing"))
	if want := "the provider is not configured yet"; !errors.As(err, &e) || e.Code != codes.FailedPrecondition || e.Message != want {
		t.Errorf("Call error = %v, want FailedPrecondition: %s", err, want)
	}
}

func TestValidateFunctions(t *testing.T) {
	good := functions()[searchToken]
	for _, test := range []struct {
		token tokens.Type
		f     lumi.Function
		want  string
	}{
		{searchToken, good, ""},
		{"test:index:Other", good, "test:index:Other: the function is for type test:index:Search"},
		{searchToken, nil, "test:index:Search: the function is nil"},
		{thingToken, lumi.NewFunction(thingToken, func() *search { return new(search) }, runSearch), "test:index:Thing: is both a resource type and a function"},
	} {
		p := Plugin{Package: "test", Resources: resources(), Functions: map[tokens.Type]lumi.Function{test.token: test.f}}
		got := ""
		if err := p.validate(); err != nil {
			got = strings.TrimPrefix(err.Error(), "invalid resources:\n")
		}
		if got != test.want {
			t.Errorf("validate of %s = %q, want %q", test.token, got, test.want)
		}
	}
	if err := (&Plugin{Package: "test", Functions: functions()}).validate(); err != nil {
		t.Errorf("validate of a plugin with only functions = %v, want nil", err)
	}
	defer func() {
		if v := recover(); v != "lumi: no code for function test:index:Search" {
			t.Errorf("NewFunction without code panicked with %v", v)
		}
	}()
	lumi.NewFunction[*search](searchToken, nil, nil)
}
