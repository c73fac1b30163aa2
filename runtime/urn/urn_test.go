package urn_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

func TestParse(t *testing.T) {
	for s, want := range map[string]urn.Parts{
		"urn:lumi:prod::my/cluster:index::aws:ec2/vpc:VPC::cloud-vpc": {
			Environment: "prod", Package: "my/cluster", Module: "index", Type: "aws:ec2/vpc:VPC", Name: "cloud-vpc",
		},
		"urn:lumi:test::shop:a/b::aws:ec2:VPC::#1": {
			Environment: "test", Package: "shop", Module: "a/b", Type: "aws:ec2:VPC", Name: "#1",
		},
		"urn:lumi:test::shop:index::aws:ec2:VPC::a::b c:": {
			Environment: "test", Package: "shop", Module: "index", Type: "aws:ec2:VPC", Name: "a::b c:",
		},
	} {
		u, err := urn.Parse(s)
		if err != nil || string(u) != s {
			t.Fatalf("%s: got %s, %v", s, u, err)
		}
		if got, err := u.Parts(); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", s, got, err)
		}
		if u.Type() != want.Type || u.Name() != want.Name {
			t.Errorf("%s: got %s, %s", s, u.Type(), u.Name())
		}
		if made, err := urn.Format(want); err != nil || made != u {
			t.Errorf("%s: made %s, %v", s, made, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, s := range []string{
		"", "urn:lumi:", "urn:other:prod::a:index::a:b:C::d", "urn:lumi:prod::a:index::a:b:C", "urn:lumi:::a:index::a:b:C::d",
		"urn:lumi:prod::a::a:b:C::d", "urn:lumi:prod::a:index::a:b::d", "urn:lumi:prod::a:index::a:b:C::",
		"urn:lumi:pr od::a:index::a:b:C::d", "urn:lumi:prod::A:index::a:b:C::d", "urn:lumi:prod::a:index::a:b:C::d\n",
		"urn:lumi:prod::a:index::a:b:C::\xff", "urn:lumi:prod::a:in dex::a:b:C::d", "urn:lumi:prod:x::a:index::a:b:C::d",
	} {
		u, err := urn.Parse(s)
		var syntax *urn.SyntaxError
		if u != "" || !errors.As(err, &syntax) || syntax.URN != s || syntax.Problem == "" {
			t.Errorf("%q: got %q, %v", s, u, err)
		}
		if u := urn.URN(s); u.Type() != "" || u.Name() != "" {
			t.Errorf("%q has parts", s)
		}
	}
}

func TestFormat(t *testing.T) {
	part := func(usual string) *rapid.Generator[string] {
		return rapid.OneOf(rapid.Just(usual), rapid.StringMatching(`[a-z:/ ]{0,4}`), rapid.String())
	}
	rapid.Check(t, func(t *rapid.T) {
		want := urn.Parts{
			Environment: part("prod").Draw(t, "environment"), Package: part("shop").Draw(t, "package"),
			Module: part("index").Draw(t, "module"), Type: tokens.Type(part("aws:ec2:VPC").Draw(t, "type")),
			Name: part("vpc").Draw(t, "name"),
		}
		u, err := urn.Format(want)
		if err != nil {
			return
		}
		if got, err := u.Parts(); err != nil || got != want {
			t.Fatalf("%s: got %+v, %v", u, got, err)
		}
	})
}

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{"web": true, "a::b c": true, "#1": true, "": false, "a\n": false, "\xff": false} {
		if err := urn.CheckName(name); (err == nil) != good || err != nil && !errors.As(err, new(*urn.SyntaxError)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func BenchmarkParts(b *testing.B) {
	u := urn.URN("urn:lumi:prod::my/cluster:index::aws:ec2/vpc:VPC::cloud-vpc-000123")
	for b.Loop() {
		if _, err := u.Parts(); err != nil {
			b.Fatal(err)
		}
	}
}
