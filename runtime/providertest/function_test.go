package providertest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/bags"
)

const findToken tokens.Type = "store:index:FindVolume"

// findVolume is like a generated struct of a function.
type findVolume struct {
	Zone     string
	Near     *urn.URN
	Size     float64
	Password *string
	Peers    []string
}

// Lumi implements lumi.Object.
func (f *findVolume) Lumi(p *lumi.Props) {
	lumi.Required(p, "zone", &f.Zone, lumi.String)
	lumi.Optional(p, "near", &f.Near, lumi.Capability(volumeToken))
	lumi.Required(p, "size", &f.Size, lumi.Number, lumi.Out)
	lumi.Optional(p, "password", &f.Password, lumi.String, lumi.Out, lumi.Secret)
	lumi.Nilable(p, "peers", &f.Peers, lumi.List(lumi.String), lumi.Out)
}

func find(_ context.Context, call *findVolume, refs lumi.References) error {
	switch call.Zone {
	case "":
		return lumi.Faultf("zone", "is empty")
	case "z":
		return fmt.Errorf("zone z: %w", lumi.ErrNotFound)
	}
	if call.Near != nil {
		near, _ := refs.Resolve(*call.Near)
		call.Peers = []string{string(near.ID)}
	}
	call.Size, call.Password = 10, new("correct horse")
	return nil
}

// mistaken is a function with a mistake.
type mistaken struct {
	lumi.Function
	change func(req *lumi.CallRequest, resp *lumi.CallResponse)
}

func (m *mistaken) Call(ctx context.Context, req *lumi.CallRequest) (*lumi.CallResponse, error) {
	resp, err := m.Function.Call(ctx, req)
	if err == nil && m.change != nil {
		m.change(req, resp)
	}
	return resp, err
}

// finding returns a harness with a function that changes its response with change, unless it is nil.
func finding(t providertest.TB, change func(req *lumi.CallRequest, resp *lumi.CallResponse)) *providertest.Harness {
	f := lumi.NewFunction(findToken, func() *findVolume { return new(findVolume) }, find)
	p := store(newCloud())
	p.Functions = map[tokens.Type]lumi.Function{findToken: &mistaken{f, change}}
	return providertest.InProcess(t, p)
}

func TestFunction(t *testing.T) {
	h := finding(t, nil)
	volumes := h.Function(findToken)
	volumes.Call(t, providertest.Call{
		Arguments: providertest.Properties{"zone": "a"}, Computed: []string{"password"},
		Expect: providertest.Properties{"size": 10, "password": "correct horse"},
	})
	if size := volumes.Output("size").GetNumberValue(); size != 10 {
		t.Errorf("Output(size) = %v, want 10", size)
	}
	data := h.Resource(volumeToken, "data")
	data.Create(t, small.With(providertest.Properties{"size": volumes.Output("size")}))
	volumes.Call(t, providertest.Call{
		Arguments: providertest.Properties{"zone": "a", "near": data},
		Expect:    providertest.Properties{"peers": []string{string(data.ID())}},
	})
	volumes.Call(t, providertest.Call{}, providertest.WantFaults("zone: is required, but missing"))
	volumes.Call(t, providertest.Call{Arguments: providertest.Properties{"zone": ""}}, providertest.WantFaults("zone: is empty"))
	volumes.Call(t, providertest.Call{Arguments: providertest.Properties{"zone": "z"}}, providertest.WantNotFound())
}

func TestFunctionMistakes(t *testing.T) {
	set := func(name string, v *structpb.Value) func(*lumi.CallRequest, *lumi.CallResponse) {
		return func(_ *lumi.CallRequest, resp *lumi.CallResponse) { bags.Set(&resp.Results, name, v) }
	}
	calls := 0
	call := providertest.Call{Arguments: providertest.Properties{"zone": "a"}}
	for name, test := range map[string]struct {
		change func(*lumi.CallRequest, *lumi.CallResponse)
		call   providertest.Call
		want   string
	}{
		"argument":   {set("zone", structpb.NewStringValue("a")), call, "call: Call returns zone, which the provider does not compute"},
		"undeclared": {set("color", structpb.NewStringValue("red")), call, "call: Call returns color, which is not declared"},
		"kind":       {set("size", structpb.NewStringValue("10")), call, `call: Call returns size as "10", but it is declared as number`},
		"signature":  {set("peers", lumi.NewSecret(structpb.NewNumberValue(1))), call, `call: Call returns peers as "(secret)", but it is declared as list`},
		"missing": {set("size", structpb.NewNullValue()), call, "call: Call does not return size, which is computed and, not being a pointer in" +
			" the IDL, must be known now"},
		"unset": {set("size", structpb.NewNumberValue(0)), call, "call: Call returns size unset, as 0. It is computed and, not being a pointer in" +
			" the IDL, must be known now; if this is its real value, list it in MayBeEmpty"},
		"unknown": {set("peers", lumi.NewUnknown()), call, "call: Call returns peers as unknown"},
		"secret":  {set("password", structpb.NewStringValue("correct horse")), call, "call: Call returns password unwrapped, but it is declared secret"},
		"optional": {
			nil, providertest.Call{Arguments: call.Arguments, Computed: []string{"peers"}}, "call: Call does not return peers",
		},
		"expectation": {
			nil, providertest.Call{Arguments: call.Arguments, Expect: providertest.Properties{"size": 7}},
			"call: Call returns unexpected results:\n\tsize: expected 7, found 10",
		},
		"undeclared expectation": {
			nil, providertest.Call{Arguments: call.Arguments, Computed: []string{"sizes"}}, "Computed: no property sizes; did you mean size?",
		},
		"repetition": {
			func(_ *lumi.CallRequest, resp *lumi.CallResponse) {
				calls++
				bags.Set(&resp.Results, "size", structpb.NewNumberValue(float64(calls)))
			}, call, "call: Call returns different results for the same arguments:\n\tsize: expected 1, found 2",
		},
		"failure": {nil, providertest.Call{Arguments: providertest.Properties{"zone": "z"}}, "call: Call failed: zone z: no such resource"},
	} {
		t.Run(name, func(t *testing.T) {
			report := said(run(t, func(t providertest.TB) { finding(t, test.change).Function(findToken).Call(t, test.call) }))
			report, _, _ = strings.Cut(report, "\n\t---") // the rest compares the results in full
			if want := "store:index:FindVolume: " + test.want; strings.TrimSpace(report) != want {
				t.Errorf("Call reported\n%swant\n%s", report, want)
			}
		})
	}
	report := run(t, func(t providertest.TB) { finding(t, nil).Function(volumeToken) })
	if want := `the plugin for package "store" does not serve function "store:index:Volume"` + "\n"; report != want {
		t.Errorf("Function reported %q, want %q", report, want)
	}
}
