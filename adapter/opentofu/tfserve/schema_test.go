package tfserve

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func ref(d schema.Decl) schema.Type { return &schema.Ref{Decl: d} }

// property returns an optional property.
func property(name string, t schema.Type) *schema.Property {
	return &schema.Property{Field: strings.ToUpper(name[:1]) + name[1:], Name: name, Type: t, Optional: true}
}

// traps returns a resource with a property of each kind that OpenTofu treats in its own way.
func traps() *schema.Resource {
	login := &schema.Struct{Header: schema.Header{Name: "Login"}}
	login.Properties = []*schema.Property{
		{Field: "User", Name: "user", Type: schema.String, Was: []string{"name"}}, {Field: "Password", Name: "password", Type: schema.String, Secret: true},
	}
	filter := &schema.Struct{Header: schema.Header{Name: "Filter"}}
	filter.Properties = []*schema.Property{property("key", schema.String), property("and", &schema.List{Elem: ref(filter)}), property("login", ref(login))}
	tcp, udp := &schema.Struct{Properties: []*schema.Property{property("port", schema.Int)}}, &schema.Struct{}
	probe := &schema.Union{Variants: []*schema.Property{property("tcp", ref(tcp)), property("udp", ref(udp))}}
	tcp.Properties[0].Default = 1e6
	color := &schema.Enum{Members: []*schema.Member{{Value: "red"}, {Value: "green"}}}
	disk := &schema.Resource{Header: schema.Header{Name: "Disk"}, Token: "acme:index:Disk"}
	vpc := &schema.Resource{Token: "acme:net:VPC"}
	either := &schema.Union{Variants: []*schema.Property{property("vpc", ref(vpc)), property("disk", ref(disk))}}
	r := &schema.Resource{Header: schema.Header{Name: "Traps", Doc: "Traps.", Deprecated: "use Snares"}, Token: "acme:index:Traps"}
	r.Properties = []*schema.Property{
		{Field: "Count", Name: "count", Type: schema.Int, Doc: "How many.", Replaces: true, Constraints: &schema.Constraints{Min: new(1.0)}},
		{Field: "IPProtocol", Name: "proto", Type: schema.String, Optional: true, Default: "tcp", Deprecated: "use Probe", Was: []string{"ipProto", "protocol"}},
		property("login", ref(login)),
		property("logins", &schema.List{Elem: ref(login)}),
		property("grid", &schema.List{Elem: &schema.List{Elem: ref(login)}}),
		property("groups", &schema.Map{Key: schema.String, Elem: &schema.List{Elem: ref(login)}}),
		property("filter", ref(filter)),
		property("tags", &schema.Map{Key: schema.String, Elem: schema.String}),
		property("rest", schema.Any),
		property("rests", &schema.Map{Key: schema.String, Elem: schema.Any}),
		property("code", schema.Asset),
		property("bundle", schema.Archive),
		property("probe", ref(probe)),
		property("color", ref(color)),
		property("disk", ref(disk)),
		property("peers", &schema.List{Elem: ref(either)}),
		property("target", schema.AnyResource),
		{Field: "Made", Name: "made", Type: &schema.Map{Key: schema.String, Elem: ref(login)}, Out: true},
	}
	return r
}

func TestSchema(t *testing.T) {
	r := traps()
	b := newShapes(testNames)
	s := b.resourceSchema(r)
	if s.Block.Description != "Traps." || !s.Block.Deprecated || s.Block.DeprecationMessage != "use Snares" || b.err() != nil {
		t.Errorf("%+v %v", s.Block, b.err())
	}
	if s.Version != 3 {
		t.Errorf("version = %d, want the number of former names", s.Version)
	}
	const want = `
count_: number required; How many. At least 1. A change replaces the resource. | In the IDL, its name is $count$, which OpenTofu reserves.
ip_protocol: string optional computed deprecated (use Probe); The default is $"tcp"$. | In the IDL, its name is $proto$.
login: single optional computed
  user: string required
  password: string required sensitive
logins: list optional computed
  user: string required
  password: string required sensitive
grid: any optional computed sensitive
groups: any optional computed sensitive
filter: single optional computed
  key: string optional computed
  and: list[string] optional computed sensitive; Encode each $Filter$ with $jsonencode$.
  login: single optional computed
    user: string required
    password: string required sensitive
tags: map[string] optional computed
rest: any optional computed
rests: any optional computed
code: single optional computed
  path: string optional; The path of a file or, for an archive, a folder or an archive file.
  text: string optional; The content as text.
  uri: string optional; The URI of the content.
  hash: string computed; The hash of the content at $path$.
bundle: single optional computed
  path: string optional; The path of a file or, for an archive, a folder or an archive file.
  assets: map optional; The files of the archive by their names.
    path: string optional; The path of a file or, for an archive, a folder or an archive file.
    text: string optional; The content as text.
    uri: string optional; The URI of the content.
    hash: string computed; The hash of the content at $path$.
  uri: string optional; The URI of the content.
  hash: string computed; The hash of the content at $path$.
probe: single optional computed
  tcp: single optional
    port: number optional computed; The default is $1000000$.
  udp: single optional
color: string optional computed; One of $red$, $green$.
disk: string optional computed; The id of the $acme_disk$.
peers: list optional computed; One of $acme_net_vpc$, $acme_disk$.
  type: string required; The type of the resource.
  id: string required; The id of the resource.
target: single optional computed
  type: string required; The type of the resource.
  id: string required; The id of the resource.
made: map computed
  user: string computed
  password: string computed sensitive
id: string computed; The id of the resource.
`
	var out strings.Builder
	dump(&out, "\n", s.Block.Attributes)
	if got := strings.ReplaceAll(out.String(), "`", "$") + "\n"; got != want {
		t.Errorf("%s", got)
	}
}

// In the provider's configuration, nothing is computed.
func TestConfigSchema(t *testing.T) {
	c := &schema.Config{Header: schema.Header{Doc: "Settings."}, Properties: traps().Properties[:3]}
	c.Properties[1].Field, c.Properties[1].Name = "Alias", "alias"
	block := blockOf(c, newShapes(testNames).config(c), settings)
	const want = `
count_: number required; How many. At least 1. A change replaces the resource. | In the IDL, its name is $count$, which OpenTofu reserves.
alias_: string optional deprecated (use Probe); The default is $"tcp"$. | In the IDL, its name is $alias$, which OpenTofu reserves.
login: single optional
  user: string required
  password: string required sensitive
`
	var out strings.Builder
	dump(&out, "\n", block.Attributes)
	if got := strings.ReplaceAll(out.String(), "`", "$") + "\n"; got != want || block.Description != "Settings." {
		t.Errorf("%s", got)
	}
}

// The schemas of the aws example follow OpenTofu's rules.
func TestSchemasOfAWS(t *testing.T) {
	files := token.NewFileSet()
	file := must.Get(parser.ParseFile(files, "../../../examples/aws/provider/lumischema/lumischema.go", nil, 0))(t)
	pkg := must.Get(new(types.Config).Check("lumischema", files, []*ast.File{file}, nil))(t)
	text := constant.StringVal(pkg.Scope().Lookup("JSON").(*types.Const).Val())
	s := &Server{schemaJSON: text, names: must.Get(typeNames("aws", must.Get(schema.NewIndex(text))(t).Tokens("resource")))(t)}
	config, resources, err := s.schemas()
	if err != nil || len(resources) < 10 || config.Block.Attributes[0].Name != "region" {
		t.Fatalf("%d resources, %v", len(resources), err)
	}
	for name, r := range resources {
		checkAttributes(t, name, r.Block.Attributes)
	}
	checkAttributes(t, "provider", config.Block.Attributes)
}

// checkAttributes checks the rules of OpenTofu's InternalValidate.
func checkAttributes(t *testing.T, in string, all []*tfprotov6.SchemaAttribute) {
	t.Helper()
	seen := map[string]bool{}
	for _, a := range all {
		if !regexp.MustCompile(`^[a-z0-9_]+$`).MatchString(a.Name) || seen[a.Name] {
			t.Errorf("%s: the name %s is invalid or taken", in, a.Name)
		}
		seen[a.Name] = true
		if a.Required && (a.Optional || a.Computed) || !a.Required && !a.Optional && !a.Computed || (a.Type == nil) == (a.NestedType == nil) {
			t.Errorf("%s: %+v is invalid", in, a)
		}
		if a.NestedType != nil {
			checkAttributes(t, in+"."+a.Name, a.NestedType.Attributes)
		}
	}
}

func dump(out *strings.Builder, indent string, all []*tfprotov6.SchemaAttribute) {
	for _, a := range all {
		out.WriteString(indent + a.Name + ": ")
		switch {
		case a.NestedType != nil:
			out.WriteString([]string{"?", "single", "list", "set", "map"}[a.NestedType.Nesting])
		case a.Type.Is(tftypes.DynamicPseudoType):
			out.WriteString("any")
		default:
			out.WriteString(strings.ToLower(strings.ReplaceAll(a.Type.String(), "tftypes.", "")))
		}
		for _, flag := range []struct {
			set  bool
			name string
		}{{a.Required, "required"}, {a.Optional, "optional"}, {a.Computed, "computed"}, {a.Sensitive, "sensitive"}, {a.Deprecated, "deprecated"}} {
			if flag.set {
				out.WriteString(" " + flag.name)
			}
		}
		if a.DeprecationMessage != "" {
			out.WriteString(" (" + a.DeprecationMessage + ")")
		}
		if a.Description != "" {
			out.WriteString("; " + strings.ReplaceAll(a.Description, "\n\n", " | "))
		}
		if a.NestedType != nil {
			dump(out, indent+"  ", a.NestedType.Attributes)
		}
	}
}
