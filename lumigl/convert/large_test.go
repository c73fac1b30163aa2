package convert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestLarge converts a long chain of resources, which must not be processed recursively, and densely connected
// resources, which must not take cubic time.
func TestLarge(t *testing.T) {
	const long, wide = 20_000, 300
	var chain, web []string
	for i := range long {
		chain = append(chain, fmt.Sprintf(`{"urn":"urn:pulumi:s::p::a:b:C::n%d","custom":true,"id":"i%d","type":"a:b:C",
			"inputs":{"next":{"4dabf18193072939515e22adb298388d":"5cf8f73096256a8f31e491e813e4eb8e","urn":"urn:pulumi:s::p::a:b:C::n%d"}}}`,
			i, i, (i+1)%long))
	}
	var all []string
	for i := range wide {
		all = append(all, fmt.Sprintf(`"x_y.n%d"`, i))
	}
	for i := range wide {
		web = append(web, fmt.Sprintf(`{"mode":"managed","type":"x_y","name":"n%d","instances":[{"attributes":{"id":"instance-%d","all":[%s]},"dependencies":[%s]}]}`,
			i, i, strings.ReplaceAll(strings.Join(all, ","), "x_y.n", "instance-"), strings.Join(all, ",")))
	}
	result := convertText(t, `{"version":3,"deployment":{"manifest":{},"resources":[`+strings.Join(chain, ",")+`]}}`)
	if n := result.Snapshot.Len(); n != long || len(result.Losses) != 1 || result.Losses[0].Code != CircleLoss {
		t.Errorf("chain: Convert returned %d resources and losses %v, want %d and one with code %s", n, result.Losses, long, CircleLoss)
	}
	result = convertText(t, `{"version":4,"lineage":"l","resources":[`+strings.Join(web, ",")+`]}`)
	if n := result.Snapshot.Len(); n != wide || result.Linked != wide*(wide-1)/2 {
		t.Errorf("web: Convert returned %d resources and %d references, want %d and %d", n, result.Linked, wide, wide*(wide-1)/2)
	}
}

func TestDuplicateResources(t *testing.T) {
	const n = 20_000
	one := `{"mode":"managed","type":"x_y","name":"n","instances":[{"attributes":{}}]}`
	result := convertText(t, `{"version":4,"lineage":"l","resources":[`+strings.Repeat(one+",", n-1)+one+`]}`)
	if got := result.Snapshot.Len(); got != n || len(result.Losses) != n-1 {
		t.Errorf("Convert returned %d resources and %d losses, want %d and %d", got, len(result.Losses), n, n-1)
	}
}

func TestUnknownFormat(t *testing.T) {
	if _, err := Convert(`{}`, Options{From: "xml"}); err == nil || err.Error() != `unknown format "xml"` {
		t.Errorf(`Convert with format xml = %v, want unknown format "xml"`, err)
	}
}

func TestNesting(t *testing.T) {
	deep := func(n int) string {
		return `{"version":4,"lineage":"l","resources":[{"mode":"managed","type":"x_y","name":"n","instances":[{"attributes":{"v":` +
			strings.Repeat("[", n) + strings.Repeat("]", n) + `}}]}]}`
	}
	convertText(t, deep(maxDepth-6))
	if _, err := Convert(deep(maxDepth), Options{}); err == nil || !strings.Contains(err.Error(), "nested deeper than 900 levels") {
		t.Errorf("Convert of a deeply nested file = %v, want an error", err)
	}
	inner := strings.Repeat("[", maxDepth-10) + strings.Repeat("]", maxDepth-10)
	secret := `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"` + inner + `"}`
	stack := `{"version":3,"deployment":{"resources":[{"urn":"urn:pulumi:s::p::a:b:C::n","type":"a:b:C","custom":true,"inputs":{"v":[[[[[[%s]]]]]]}}]}}`
	result := convertText(t, fmt.Sprintf(stack, secret))
	if len(result.Losses) != 1 || result.Losses[0].Code != SignatureLoss {
		t.Errorf("losses = %v, want one with code %s", result.Losses, SignatureLoss)
	}
}

func convertText(t *testing.T, src string) *Result {
	t.Helper()
	result := must.Get(Convert(src, Options{}))(t)
	must.Get(lumigl.ParseSnapshot(string(must.Get(lumigl.Append(nil, result.Snapshot))(t))))(t)
	return result
}

func TestTofuTypes(t *testing.T) {
	for _, c := range []struct{ provider, kind, want string }{
		{"aws", "aws_vpc", "aws:index:Vpc"},
		{"aws", "aws_s3_bucket", "aws:index:S3Bucket"},
		{"google-beta", "google_sql_user", "google-beta:index:google_sql_user"},
		{"terraform", "terraform_data", "terraform:index:Data"},
		{"x", "x_a2_3b", "x:index:x_a2_3b"},
		{"x", "x_Upper", "x:index:x_Upper"},
		{"x", "x__y", "x:index:x__y"},
		{"x", "x", "x:index:x"},
	} {
		token, changed := tofuToken(c.provider, "index", c.kind)
		if string(token) != c.want || changed {
			t.Errorf("tofuToken(%s) = %s, %t, want %s, false", c.kind, token, changed, c.want)
		}
		if back, ok := tofuType(token.Package(), token.Name()); !ok || back != c.kind {
			t.Errorf("tofuType(%s) = %s, want %s", token, back, c.kind)
		}
	}
}

func TestQuoted(t *testing.T) {
	for key, want := range map[string]string{
		"": `""`, "a": `"a"`, `a"b\`: `"a\"b\\"`, "${x} %{y} $z %": `"$${x} %%{y} $z %"`, "\n\r\t\x00\u2028": `"\n\r\t\u0000\u2028"`,
		"\U000e0001": `"\U000e0001"`, "é": `"é"`,
	} {
		expect.Equal(t, want, quoted(key), key)
	}
}

func TestProviderType(t *testing.T) {
	for provider, want := range map[string]string{
		`provider["registry.opentofu.org/hashicorp/aws"]`:            "aws",
		`module.a["x"].provider["registry.opentofu.org/h/aws"].west`: "aws",
		`provider["terraform.io/builtin/terraform"]`:                 "terraform",
		"provider.aws":               "aws",
		"module.a.provider.aws.west": "aws",
		"":                           "null",
	} {
		expect.Equal(t, want, providerType(provider, "null_resource"), provider)
	}
}

func TestWithoutKeys(t *testing.T) {
	for address, want := range map[string]string{
		"a.b": "a.b", "a.b[0]": "a.b", `module.m["x"].a.b`: "module.m.a.b", `module.m["]\"].["].module.n[1].a.b["c"]`: "module.m.module.n.a.b",
		`a.b["`: "a.b", "a.b[": "a.b", `a["b"x]c`: "ac", "": "",
	} {
		expect.Equal(t, want, withoutKeys(address), address)
	}
}

func TestLossResource(t *testing.T) {
	result := convertText(t, `{"version":4,"lineage":"l","odd":1,"resources":[{"mode":"data","type":"x_y","name":"n","module":"module.m","instances":[
		{"index_key":"k","odd":1,"attributes":{"id":"i"}}]}]}`)
	var got []string
	for _, l := range result.Losses {
		got = append(got, l.Pointer()+" "+l.Resource())
	}
	want := "/odd , /resources/0 module.m.data.x_y.n, /resources/0/instances/0/odd module.m.data.x_y.n[\"k\"]"
	expect.Equal(t, want, strings.Join(got, ", "))
	result = convertText(t, `{"deployment":{"resources":[{"urn":"urn:pulumi:s::p::a:b:C::n","type":"a:b:C","custom":true,"external":true}]}}`)
	if len(result.Losses) != 1 || result.Losses[0].Resource() != "urn:pulumi:s::p::a:b:C::n" {
		t.Errorf("losses = %v, want one of the resource", result.Losses)
	}
}
