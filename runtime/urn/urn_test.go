package urn_test

import (
	"errors"
	"fmt"
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
			t.Fatalf("Parse(%q) = %q, %v, want the same, nil", s, u, err)
		}
		if got, err := u.Parts(); err != nil || got != want {
			t.Errorf("Parts of %q = %+v, %v, want %+v", s, got, err, want)
		}
		if u.Type() != want.Type || u.Name() != want.Name {
			t.Errorf("Type and Name of %q = %q, %q, want %q, %q", s, u.Type(), u.Name(), want.Type, want.Name)
		}
		if made, err := urn.Format(want); err != nil || made != u {
			t.Errorf("Format = %q, %v, want %q", made, err, s)
		}
	}
}

// A reference by id is parsed as a URN, which no resource has.
func TestByID(t *testing.T) {
	for _, id := range []string{"vpc-0abc", "a/b c", "arn:aws:s3:::logs", "#1", "a::b", "ä\u200b"} {
		u := urn.ByID("aws:ec2/vpc:VPC", id)
		if got, ok := u.ID(); got != id || !ok || u.Type() != "aws:ec2/vpc:VPC" {
			t.Errorf("ID and type of %q = %q, %v, %q, want %q, true, aws:ec2/vpc:VPC", u, got, ok, u.Type(), id)
		}
		parts, err := u.Parts()
		if err != nil {
			t.Fatalf("Parts of %q: %v", u, err)
		}
		_, err = urn.Format(parts)
		if want := fmt.Sprintf("%q: it is reserved for references by id", u); err == nil || err.Error() != want {
			t.Errorf("Format(%+v) = %v, want %s", parts, err, want)
		}
	}
	if u := urn.ByID("aws:ec2:VPC", ""); u != "" {
		t.Errorf("ByID without an id = %q, want none", u)
	}
	for _, u := range []urn.URN{
		"", "vpc-0abc", "urn:lumi:prod::shop:index::aws:ec2:VPC::main", "urn:lumi:#id::shop:index::aws:ec2:VPC::main",
		urn.ByID("VPC", "vpc-0abc"), urn.ByID("aws:ec2:VPC", "a\nb"),
	} {
		if id, ok := u.ID(); id != "" || ok {
			t.Errorf("ID of %q = %q, %v, want none", u, id, ok)
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
			t.Errorf("Parse(%q) = %q, %v, want \"\", a *SyntaxError", s, u, err)
		}
		if u := urn.URN(s); u.Type() != "" || u.Name() != "" {
			t.Errorf("Type and Name of %q = %q, %q, want \"\", \"\"", s, u.Type(), u.Name())
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
			t.Fatalf("Parts of %q = %+v, %v, want %+v", u, got, err, want)
		}
	})
}

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{"web": true, "a::b c": true, "#1": true, "": false, "a\n": false, "\xff": false} {
		if err := urn.CheckName(name); (err == nil) != good || err != nil && !errors.As(err, new(*urn.SyntaxError)) {
			t.Errorf("CheckName(%q) = %v, want valid %v", name, err, good)
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
