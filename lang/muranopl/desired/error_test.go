package desired_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/muranopl/desired"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const header = `Name: test.App
Namespaces: {std: io.murano}
Properties:
  secret: {Contract: $.string()}
  code: {Contract: $}
  out: {Contract: $.string(), Usage: Out}
  number: {Contract: $.int(), Usage: Out}
  list: {Contract: [$.string()], Usage: Out}
Methods:
  deploy:
    Body:
      - $r: new(lumi:Resource, type => 'local:index:RandomString', name => r, properties => {length => 8})
      - $f: new(lumi:Resource, type => 'local:index:File', name => f, properties => {path => f})
      - $v: new(lumi:Resource, type => 'aws:ec2:VPC', name => v, properties => {cidrBlock => '10.0.0.0/16'})
      - $m: new(lumi:Module, name => network)
      - $own: new(lumi:Module)
`

const hidden = `{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": %s}`

// evaluate runs instructions, which start at line 17 of the class.
func evaluate(t *testing.T, body string) (*lumigl.Snapshot, error) {
	t.Helper()
	var source strings.Builder
	source.WriteString(header)
	for line := range strings.Lines(body) {
		source.WriteString("      - " + strings.TrimSuffix(line, "\n") + "\n")
	}
	trees := must.Get(catalog.Decode("app.yaml", []byte(source.String())))(t)
	model := must.Get(catalog.Decode("env.json", fmt.Appendf(nil, `{"?": {"id": "app", "type": "test.App"}, "secret": %s, "code": %s}`,
		fmt.Sprintf(hidden, `"t0ps3cret"`), fmt.Sprintf(hidden, "[1]"))))(t)
	packages := must.Get(schemas())(t)
	graph, _, err := desired.Evaluate(context.Background(), desired.Input{
		Module: "shop", Environment: "dev", Schemas: packages, Model: model[0],
		Classes: muranopl.Declarations{"test.App": {Name: "test.App", Tree: trees[0], Namespaces: trees[0].Get("Namespaces")}},
	})
	return graph, err
}

func TestErrors(t *testing.T) {
	file := func(rest string) string {
		return `new(lumi:Resource, type => 'local:index:File', name => x, ` + rest + `)`
	}
	props := func(properties string) string { return file("properties => {path => x, " + properties + "}") }
	group := func(properties string) string {
		return `new(lumi:Resource, type => 'aws:ec2:SecurityGroup', name => g, properties => {groupDescription => d, ` + properties + `})`
	}
	rule := func(properties string) string {
		return `new(lumi:Resource, type => 'unions:index:Rule', name => r, properties => {` + properties + `})`
	}
	const queue = `new(lumi:Resource, type => 'unions:index:Queue', name => q, properties => {})`
	const out = `output checksum of local:index:File "f" can only be assigned, passed on, or put into a string`
	const secret = "a secret can only be assigned, passed on, or put into a string"
	for body, want := range map[string]string{
		`new(lumi:Resource, type => 'local:index:Fil', properties => {})`:                 `unknown resource type "local:index:Fil"; did you mean "local:index:File"?`,
		`new(lumi:Resource, properties => {})`:                                            `property type of class io.lumi.Resource: null violates notNull() (contract $.string().notNull())`,
		`new(lumi:Resource, type => 'local:index:Command', properties => {create => ls})`: `local:index:Command: resources of this type need a name`,
		file("properties => {}"):                                                          `local:index:File "x": path is required`,
		file("properties => {path => x}") + "\n" + file("properties => {path => y}"):      `local:index:File "x": duplicate resource of this type and name: app.yaml:17:9`,
		props("contnt => x"):       `local:index:File "x": contnt: no such property; did you mean "content"?`,
		props("checksum => x"):     `local:index:File "x": checksum is set by the provider, not by a workflow`,
		props("content => 1"):      `local:index:File "x": content: expected string, found integer`,
		props("content => true"):   `local:index:File "x": content: expected string, found boolean`,
		props("content => [a]"):    `local:index:File "x": content: expected string, found list`,
		props("content => $f"):     `local:index:File "x": content: expected string, found resource local:index:File "f"`,
		props("content => $this"):  `local:index:File "x": content: expected string, found test.App`,
		props("content => $.code"): `local:index:File "x": content: expected string, found another secret`,
		group("securityGroupIngress => [{ipProtocol => tcp, fromPort => 70000}]"): `aws:ec2:SecurityGroup "g": securityGroupIngress[0].fromPort: must be at most 65535, found another number`,
		group("securityGroupIngress => [{ipProtocol => tcp, cidrip => '10'}]"):    `aws:ec2:SecurityGroup "g": securityGroupIngress[0].cidrip: must be an IP prefix such as 10.0.0.0/8, found another string`,
		props("source => a"):                                                                                            `local:index:File "x": source: expected a dictionary with "text" or "path" or "uri", found string`,
		props("source => {txt => a}"):                                                                                   `local:index:File "x": source: expected a dictionary with "text" or "path" or "uri", found dictionary`,
		props("content => '04da6b54-80e4-46f7-96ec-b56ff0331ba9'"):                                                      `local:index:File "x": content: the string is the placeholder for unknown values`,
		file("properties => {path => x}, options => {protct => true}"):                                                  `local:index:File "x": unknown option "protct"; did you mean "protect"?`,
		file("properties => {path => x}, options => {protect => 1}"):                                                    `local:index:File "x": "protect" must be a boolean, not the number 1`,
		file("properties => {path => x}, options => {dependsOn => [a]}"):                                                `local:index:File "x": each element of "dependsOn" must be a reference to a resource, not a string`,
		file("properties => {path => x}, options => {import => $f.get(id)}"):                                            `local:index:File "x": "import" must be a string, not a reference`,
		`new(lumi:Resource, type => 'local:index:RandomString', name => x, properties => {length => '8'})`:              `local:index:RandomString "x": length: expected int, found string`,
		`new(lumi:Resource, type => 'local:index:RandomString', name => x, properties => {length => 1.5})`:              `local:index:RandomString "x": length: must be a whole number, found another number`,
		`new(lumi:Resource, type => 'local:index:RandomString', name => x, properties => {length => $r.get(result)})`:   `local:index:RandomString "x": length: expected int, found string (output result of local:index:RandomString "r")`,
		`new(lumi:Resource, type => 'local:index:RandomString', name => $f.get(checksum), properties => {length => 8})`: out,
		`new(lumi:Resource, type => 'aws:s3:Bucket', name => Logs, properties => {})`:                                   `aws:s3:Bucket "Logs": name: must be a bucket name of lower-case letters, digits, periods, and hyphens, found another string`,
		`new(lumi:Resource, type => 'aws:s3:Bucket', name => logs, properties => {name => lo})`:                         `aws:s3:Bucket "logs": name: must have at least 3 characters, found fewer`,
		group("vpc => $f"): `aws:ec2:SecurityGroup "g": vpc: expected resource of type aws:ec2:VPC, found resource local:index:File "f"`,
		`new(lumi:Resource, type => 'aws:ec2:VPC', name => x, properties => {cidrBlock => a, instanceTenancy => dedicate})`: `aws:ec2:VPC "x": instanceTenancy: expected "default" or "dedicated" or "host"; did you mean "dedicated"?`,
		group("securityGroupIngress => [{ipProtocl => tcp, ipProtocol => tcp}]"):                                            `aws:ec2:SecurityGroup "g": securityGroupIngress[0].ipProtocl: no such property; did you mean "ipProtocol"?`,
		group("securityGroupIngress => [null]"):                                                                             `aws:ec2:SecurityGroup "g": securityGroupIngress[0]: list elements must not be null`,
		rule("target => $f, filter => {}"):                                                                                  `unions:index:Rule "r": target: expected resource of type unions:sns:Topic or unions:index:Queue, found resource local:index:File "f"`,
		rule("target => $r.get(result), filter => {}"):                                                                      `unions:index:Rule "r": target: expected resource of type unions:sns:Topic or unions:index:Queue, found string (output result of local:index:RandomString "r")`,
		rule("target => x, filter => {}"):                                                                                   `unions:index:Rule "r": target: expected resource of type unions:sns:Topic or unions:index:Queue, found string`,
		rule("target => " + queue + ", filter => {}"):                                                                       `unions:index:Rule "r": filter: exactly one of attribute, not, sender is required, found none`,
		rule("target => " + queue + ", filter => {'not' => {filter => {sender => {address => a}, attribute => {name => n, value => v}}}}"): `unions:index:Rule "r": filter.not.filter: exactly one of attribute, not, sender is required, found attribute, sender`,
		rule("target => " + queue + ", filter => {name => n}"):                                                                             `unions:index:Rule "r": filter.name: no such property`,
		rule("target => " + queue + ", filter => a"):                                                                                       `unions:index:Rule "r": filter: expected dictionary, found string`,
		"$f.get(chksum)":                                    `local:index:File "f": chksum: no such property; did you mean "checksum"?`,
		"$f.get($f.get(checksum))":                          out,
		"{If: $f.get(checksum), Then: []}":                  out,
		"{If: $.secret = x, Then: []}":                      secret,
		"$x: $f.get(checksum).len()":                        out,
		"$x: $f.get(checksum) in [a]":                       out,
		"$x: dict($f.get(checksum) => 1)":                   out,
		"$x: $.secret.toUpper()":                            secret,
		"{Match: {a: []}, Value: $.secret}":                 secret,
		"{For: x, In: $.code, Do: []}":                      "a secret is not a collection",
		"{Throw: x, Message: $.secret}":                     "a secret",
		"$x: $f.get(checksum) + $v.get(id) + 1":             `a string with output checksum of local:index:File "f" can only be assigned, passed on, or put into a string`,
		"$x: $.code + x":                                    "a secret cannot be part of a string",
		"$.number: $f.get(checksum)":                        `property number of class test.App: output checksum of local:index:File "f" is not of kind int (contract $.int())`,
		"$.list: $f.get(checksum)":                          `property list of class test.App: output checksum of local:index:File "f" is not of kind list (contract [$.string()])`,
		"new(lumi:Log).info($.secret)":                      secret,
		"$m.use('1')":                                       "the name of a value must be a letter, and then letters, digits, - and _",
		"$m.use(a, int)":                                    `lumi:index:Module "network": a type must be "bool", "number", "string", "any" or an object, not "int"`,
		"$m.use(a, string)\n$m.use(a, number)":              `module "network": a is used as another type elsewhere`,
		"$own.provide(a, 1, $f.get(checksum))":              out,
		"$m.use(a, any, $f.get(checksum))":                  out,
		"new(lumi:Module, name => $f.get(checksum)).use(a)": out,
		"new(lumi:Resource, type => 'local:index:File', properties => $m.use(a))": `value a of module "network" can only be assigned, passed on, or put into a string`,
		"$own.use(a)":                            "a module cannot use values that it provides itself; name another module",
		"$m.provide(a, 1)":                       "only the module itself can provide a value; create a lumi:Module without a name",
		"$own.provide(a, 1)\n$own.provide(a, 2)": "a is already provided with another value",
		"$x: $m.use(a, string) = b":              `value a of module "network" can only be assigned, passed on, or put into a string`,
	} {
		_, err := evaluate(t, body)
		wantLine := 17 + strings.Count(body, "\n")
		var e *muranopl.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Message, want) || e.Pos.Line != wantLine || e.Pos.File != "app.yaml" {
			t.Errorf("error of %s =\n%v\nwant\napp.yaml:%d:…: %s", body, err, wantLine, want)
		}
		if err != nil && strings.Contains(err.Error(), "t0ps3cret") {
			t.Errorf("error of %s reveals the secret: %v", body, err)
		}
	}
}

func TestPhysicalNames(t *testing.T) {
	graph, err := evaluate(t, strings.Join([]string{
		"$a: new(lumi:Resource, type => 'aws:s3:Bucket', name => 'the a', properties => {name => 'bucket-a'})",
		"$b: new(lumi:Resource, type => 'aws:s3:Bucket', name => 'bucket-b', properties => {name => 'bucket-b'})",
		"$c: new(lumi:Resource, type => 'aws:s3:Bucket', name => 'bucket-c', properties => {})",
		"new(lumi:Resource, type => 'local:index:File', name => x, properties => {path => x, content => $a.get(name)})",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"aws:s3:Bucket::the a":    `{"name":"bucket-a"}`,
		"aws:s3:Bucket::bucket-b": `{"name":{"4dabf18193072939515e22adb298388d":"63fc8277790b7f8a51f0478af443e94d","interpolate":["bucket-b"]}}`,
		"aws:s3:Bucket::bucket-c": `{"name":"bucket-c"}`,
		"local:index:File::x":     `{"path":"x","content":"bucket-a"}`,
	} {
		if got := compact(t, graph.Vertex("urn:lumi:dev::shop:index::"+name).Properties); got != want {
			t.Errorf("properties of %s = %s, want %s", name, got, want)
		}
	}
}

func TestOutputs(t *testing.T) {
	const ref = `{"#ref":"urn:lumi:dev::shop:index::local:index:File::f","property":"checksum"}`
	for body, want := range map[string]string{
		"$x: $f.get(checksum)":                 ref,
		"$x: list($f.get(checksum), 1)[0]":     ref,
		"$x: dict(a => $f.get(checksum)).a":    ref,
		"$x: switch(true => $f.get(checksum))": ref,
		"$x: $f.get(path)":                     `"f"`,
		"$x: $r.get(name)":                     `{"#ref":"urn:lumi:dev::shop:index::local:index:RandomString::r","property":"name"}`,
		"$x: $f.get(mode)":                     "",
		"$x: $m.use(zone, string)":             `{"#ref":"urn:lumi:dev::network:index::lumi:index:Module::network","property":"provides.zone"}`,
		"$x: $f.get(urn)":                      strings.Replace(ref, "checksum", "urn", 1),
		"$x: a + $f.get(checksum) + b":         fmt.Sprintf(`{"4dabf18193072939515e22adb298388d":"63fc8277790b7f8a51f0478af443e94d","interpolate":["a",%s,"b"]}`, ref),
		"$x: $.secret":                         fmt.Sprintf(`{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":%s}`, `"t0ps3cret"`),
		"$x: a + $.secret + $.secret":          fmt.Sprintf(`{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":%s}`, `"at0ps3crett0ps3cret"`),
	} {
		graph, err := evaluate(t, body+"\nnew(lumi:Resource, type => 'local:index:File', name => x, properties => {path => x, content => $x})")
		if err != nil {
			t.Errorf("Evaluate of %s: %v", body, err)
			continue
		}
		got := compact(t, graph.Vertex("urn:lumi:dev::shop:index::local:index:File::x").Properties.Get("content"))
		if got != want {
			t.Errorf("content after %s =\n%s\nwant\n%s", body, got, want)
		}
	}
}

func compact(t *testing.T, v lumigl.Value) string {
	t.Helper()
	if !v.Exists() {
		return ""
	}
	var g lumigl.Graph
	vertex, err := g.Add("x")
	for target := range v.References() {
		must.Get(g.Add(target.Key()))(t)
	}
	vertex.Properties = lumigl.ObjectOf(lumigl.Member{Key: "v", Value: v.Retarget(func(v *lumigl.Vertex) *lumigl.Vertex { return g.Vertex(v.Key()) })})
	text, err2 := lumigl.Append(nil, &g)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	var all struct {
		Vertices struct{ X struct{ V json.RawMessage } }
	}
	must.Do(t, json.Unmarshal(text, &all))
	var b bytes.Buffer
	must.Do(t, json.Compact(&b, all.Vertices.X.V))
	return b.String()
}

func TestUnions(t *testing.T) {
	const queue = "$q: new(lumi:Resource, type => 'unions:index:Queue', name => q, properties => {})\n"
	rule := func(name, properties string) string {
		return "$" + name + ": new(lumi:Resource, type => 'unions:index:Rule', name => " + name + ", properties => {" + properties + "})\n"
	}
	graph := must.Get(evaluate(t, strings.TrimSuffix(queue+
		rule("a", "target => $q, filter => {sender => {address => a}}")+
		rule("b", "target => $a.get(last), fallback => [$q], filter => {'not' => {filter => {attribute => {name => n, value => v}}}}"), "\n")))(t)
	var text strings.Builder
	must.Do(t, lumigl.Write(&text, graph))
	for _, want := range []string{`"sender":`, `"property": "last"`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("graph does not contain %s:\n%s", want, text.String())
		}
	}
}
