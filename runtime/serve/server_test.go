package serve

import (
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/bagrpc"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestWrappedPartialError(t *testing.T) {
	p := &wrapping{lumi.NewNamedProvider(thingToken, func() *thing { return new(thing) }, ops{})}
	s := newServer(Plugin{Package: "test", Resources: map[tokens.Type]lumi.ResourceProvider{thingToken: p}}, newEvents(nil), nil)
	for do, want := range map[string]string{"fail": "in failed here", "fault": "do: in is a fault here\nlist[0]: in is another here"} {
		bag := thingBag("partly " + do)
		created, err := s.Create(t.Context(), &bagrpc.CreateRequest{Type: string(thingToken), Urn: thingURN, Properties: bagrpc.Encode(lumi.BagOf(bag))})
		if err != nil || created.GetId() != "t-half" || created.GetFailure().GetMessage() != want {
			t.Errorf("Create = %v, %v, want t-half with failure %s", created, err, want)
		}
		updated, err := s.Update(t.Context(), &bagrpc.UpdateRequest{
			Type: string(thingToken), Urn: thingURN, Id: "t-1", Old: bagrpc.Encode(lumi.BagOf(thingBag("nothing"))), New: bagrpc.Encode(lumi.BagOf(bag)),
		})
		if err != nil || updated.GetFailure().GetMessage() != want {
			t.Errorf("Update = %v, %v, want failure %s", updated, err, want)
		}
	}
}

func TestFormerTokens(t *testing.T) {
	p := lumi.NewNamedProvider(thingToken, func() *thing { return new(thing) }, ops{}).Formerly("test:index:Old", "test:index:Older")
	resources := resources()
	resources[thingToken] = &p
	s := newServer(Plugin{Package: "test", Resources: resources}, newEvents(nil), nil)
	must.Get(s.Delete(t.Context(), &bagrpc.DeleteRequest{
		Type: "test:index:Older", Urn: "urn:lumi:dev::app:index::test:index:Older::a", Id: "t-1", Properties: bagrpc.Encode(lumi.BagOf(thingBag("nothing"))),
	}))(t)
	all, err := s.Describe(t.Context(), &lumirpc.DescribeRequest{})
	if err != nil || len(all.GetTypes()) != 2 {
		t.Errorf("Describe = %v, %v, want 2 types", all, err)
	}
	_, err = s.Describe(t.Context(), &lumirpc.DescribeRequest{Types: []string{"test:index:Oldest"}})
	if want := `does not serve type "test:index:Oldest"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Describe error = %v, want %s", err, want)
	}
}

// If a response exceeds the limit, the error or failure reports it, and the id is still sent.
func TestTooLarge(t *testing.T) {
	s := newServer(Plugin{Package: "test", Resources: resources()}, newEvents(nil), nil)
	s.limit = 1000
	tests := []struct {
		name, do string
		length   int
		large    bool
		code     codes.Code
		want     string
	}{
		{"small", "length", 100, false, codes.OK, ""},
		{"large", "length", 2000, true, codes.Aborted, "the provider returned an invalid result: " +
			"the response has %size bytes, more than the limit of 1000"},
		{"large and partly done", "partly fail", 2000, true, codes.Aborted, "failed\nthe provider returned an invalid " +
			"result: the response has %size bytes, more than the limit of 1000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bag := thingBag(test.do, "fixed", strings.Repeat("x", test.length))
			created, err := s.Create(t.Context(), &bagrpc.CreateRequest{
				Type: string(thingToken), Urn: thingURN, Properties: bagrpc.Encode(lumi.BagOf(bag)),
			})
			if err != nil || created.GetId() == "" {
				t.Fatalf("Create = %v, %v, want an id", created, err)
			}
			size := regexp.MustCompile(`has \d+ bytes`)
			plain := func(text string) string { return size.ReplaceAllString(text, "has %size bytes") }
			if failure := created.GetFailure(); codes.Code(failure.GetCode()) != test.code || plain(failure.GetMessage()) != test.want {
				t.Errorf("Create failure = %v, want code %v, %s", failure, test.code, test.want)
			}
			if (created.GetProperties() == nil) != test.large {
				t.Errorf("Create properties = %v, want nil %v", created.GetProperties(), test.large)
			}
			updated, err := s.Update(t.Context(), &bagrpc.UpdateRequest{
				Type: string(thingToken), Urn: thingURN, Id: "t-1", Old: bagrpc.Encode(lumi.BagOf(bag)), New: bagrpc.Encode(lumi.BagOf(bag)),
			})
			if !test.large {
				if err != nil || updated.GetProperties() == nil {
					t.Errorf("Update = %v, %v, want properties", updated, err)
				}
			} else if !isUncertain(err) || plain(err.Error()) != test.want {
				t.Errorf("Update = %v, %v, want an uncertain %s", updated, err, test.want)
			}
		})
	}
}
