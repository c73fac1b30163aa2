package program_test

import (
	"fmt"
	"testing"

	"github.com/lumi-idl/lumi/deploy/program"
	"github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func plain(v lumigl.Value) any {
	return v.Plain(func(lumigl.Value) (any, bool) { return nil, false })
}

func TestConfigure(t *testing.T) {
	t.Parallel()
	w := must.Get(workspace.Parse([]byte("providers: {aws: {region: eu, tries: 3}, gcp: {zone: b}, azure: {a: b}, empty: {}}"), "f"))(t)
	for _, test := range []struct {
		name, configuration, want string
		completed                 []string
		err                       string
	}{
		{"none", "", `{"aws":{"region":"eu","tries":3},"gcp":{"zone":"b"}}`, []string{"region", "zone"}, "<nil>"},
		{"others", `"configuration": {"azure": {"c": "d"}, "other": {}}, `,
			`{"aws":{"region":"eu","tries":3},"azure":{"c":"d"},"gcp":{"zone":"b"},"other":{}}`, []string{"region", "zone"}, "<nil>"},
		{"the same", `"configuration": {"aws": {}}, `, `{"aws":{}}`, nil,
			"f:1:27: providers.aws.region: aws is also configured by the program; remove one of the two"},
	} {
		desired := must.Get(lumigl.ParseSnapshot(`{"package": "p", ` + test.configuration + `"resources": {
			"urn:lumi:dev::p:index::aws:ec2:VPC::a": {"type": "aws:ec2:VPC", "properties": {}},
			"urn:lumi:dev::p:index::aws:ec2:VPC::b": {"type": "aws:ec2:VPC", "properties": {}},
			"urn:lumi:dev::p:index::gcp:index:X::c": {"type": "gcp:index:X", "properties": {}},
			"urn:lumi:dev::p:index::empty:index:X::c": {"type": "empty:index:X", "properties": {}}}}`))(t)
		var completed []string
		err := program.Configure(desired, w.Providers("dev"), func(settings []workspace.Setting) error {
			completed = append(completed, settings[0].Key)
			return nil
		})
		expect.Equal(t, test.err, fmt.Sprint(err), "error of Configure with", test.name)
		expect.Equal(t, test.completed, completed, "settings completed by Configure with", test.name)
		want := must.Get(lumigl.Parser{}.ParseValue(test.want))(t)
		expect.Equal(t, plain(want), plain(desired.Field("configuration")), "configuration after Configure with", test.name)
		if len(desired.Fields) != 1 {
			t.Errorf("the desired state with %s has %d fields, want one", test.name, len(desired.Fields))
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	at := workspace.Setting{File: "f", Line: 1, Column: 2, From: "config", Key: "a"}
	secret, broken, command := at, at, at
	secret.Value, secret.Secret = []byte(`"hush"`), true
	v := must.Get(program.Values([]workspace.Setting{secret}))(t)
	if content, ok := v.Get("a").Secret(); !ok || !content.Equal(lumigl.TextOf("hush")) {
		t.Errorf("Values of a secret setting = %v, want a secret", plain(v))
	}
	broken.Value, command.Exec = []byte(`"hush`), "pass"
	_, err := program.Values([]workspace.Setting{broken})
	expect.Equal(t, "f:1:2: config.a: the value is not valid JSON", fmt.Sprint(err))
	_, err = program.Values([]workspace.Setting{command})
	expect.Equal(t, "f:1:2: config.a: the output of the command is not available", fmt.Sprint(err))
}
