package tokens_test

import (
	"errors"
	"testing"

	"github.com/lumi-idl/lumi/runtime/tokens"
)

func TestParse(t *testing.T) {
	tests := []struct{ token, pkg, module, name string }{
		{"aws:ec2:SecurityGroup", "aws", "ec2", "SecurityGroup"},
		{"aws:ec2/securityGroup:SecurityGroup", "aws", "ec2/securityGroup", "SecurityGroup"},
		{"corp/net-1_x:index:Firewall", "corp/net-1_x", "index", "Firewall"},
		{"a:a/b.c/d-E:Größe_1", "a", "a/b.c/d-E", "Größe_1"},
	}
	for _, test := range tests {
		got, err := tokens.Parse(test.token)
		if err != nil || string(got) != test.token {
			t.Errorf("Parse(%q) = %q, %v, want the same, nil", test.token, got, err)
		}
		if got.Package() != test.pkg || got.Module() != test.module || got.Name() != test.name {
			t.Errorf("parts of %q = %q, %q, %q, want %q, %q, %q", test.token, got.Package(), got.Module(), got.Name(), test.pkg, test.module, test.name)
		}
		if made, err := tokens.Format(test.pkg, test.module, test.name); err != nil || made != got {
			t.Errorf("Format = %q, %v, want %q", made, err, test.token)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, token := range []string{
		"", "aws", "aws:ec2", "aws:ec2:", "aws::VPC", ":ec2:VPC", "aws:ec2:VPC:x", "Aws:ec2:VPC", "aws/:ec2:VPC",
		"aws:/ec2:VPC", "aws:ec2/../x:VPC", "aws:ec 2:VPC", "aws:ec2:1VPC", "aws:ec2:V PC", "1a:b:C", "a/-b:c:D", "aws:\x00:D",
		"aws:\xff:D", "aws:ec2:D\xff", "päckchen:b:C",
	} {
		got, err := tokens.Parse(token)
		var syntax *tokens.SyntaxError
		if got != "" || !errors.As(err, &syntax) || syntax.Token != token || syntax.Problem == "" {
			t.Errorf("Parse(%q) = %q, %v, want \"\", a *SyntaxError", token, got, err)
		}
	}
	if _, err := tokens.Format("a", "b:c", "D"); err == nil {
		t.Error("Format with four parts returned nil, want an error")
	}
	if bad := tokens.Type("x:y"); bad.Package() != "" || bad.Module() != "" || bad.Name() != "" {
		t.Errorf("parts of %q = %q, %q, %q, want all empty", bad, bad.Package(), bad.Module(), bad.Name())
	}
}
