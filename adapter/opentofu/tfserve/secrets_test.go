package tfserve

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// account is like a struct generated for the resource of vault.
type account struct {
	User, Password string
	Keys           []key
}

type key struct{ Text string }

func (k *key) Lumi(p *lumi.Props) { lumi.Required(p, "text", &k.Text, lumi.String, lumi.Secret) }

func (a *account) Lumi(p *lumi.Props) {
	lumi.Required(p, "user", &a.User, lumi.String)
	lumi.Required(p, "password", &a.Password, lumi.String, lumi.Secret)
	lumi.Nilable(p, "keys", &a.Keys, lumi.List(lumi.Struct[*key]()))
}

// configuration is like a struct generated for the configuration of vault.
type configuration struct{ Token string }

func (c *configuration) Lumi(p *lumi.Props) {
	lumi.Required(p, "token", &c.Token, lumi.String, lumi.Secret)
}

// vault is a package whose code puts secrets into errors.
func vault(t *testing.T) (serve.Plugin, string) {
	t.Helper()
	text := func(field string) *schema.Property {
		return &schema.Property{Field: field, Name: strings.ToLower(field), Type: schema.String, Secret: field != "User"}
	}
	k := &schema.Struct{Header: schema.Header{Name: "Key"}, Properties: []*schema.Property{text("Text")}}
	pkg := &schema.Package{Name: "vault", Modules: []*schema.Module{{GoName: "vault", Files: []*schema.File{{Name: "vault.go", Decls: []schema.Decl{
		&schema.Config{Header: schema.Header{Name: "Config"}, Properties: []*schema.Property{text("Token")}},
		&schema.Resource{Header: schema.Header{Name: "Account"}, Token: "vault:index:Account", Properties: []*schema.Property{
			text("User"), text("Password"), property("keys", &schema.List{Elem: ref(k)}),
		}}, k,
	}}}}}}
	pkg.Link()
	return serve.Plugin{
		Package: "vault",
		Configure: serve.Configure(func(_ context.Context, c *configuration) error {
			if c.Token != "t0ken-good" {
				return errors.New("token " + c.Token + " is revoked")
			}
			return nil
		}),
		Resources: map[tokens.Type]lumi.ResourceProvider{
			"vault:index:Account": new(lumi.NewProvider("vault:index:Account", func() *account { return new(account) }, leaky{})),
		},
	}, string(must.Get(schema.Compact(pkg))(t))
}

// leaky is the code of a careless author.
type leaky struct{ lumi.NamingOps[*account] }

func (leaky) Check(_ context.Context, want *lumi.State[*account]) error {
	a := want.Properties
	if a.User == "fault" {
		return lumi.Faultf("user", "no user with password %s and key %s", a.Password, a.Keys[0].Text)
	}
	return errors.New("login with " + a.Password + ", " + a.Keys[0].Text + " failed")
}

// Secrets in a configuration are masked in errors of the author's code.
func TestSecretsInErrors(t *testing.T) {
	p, text := vault(t)
	s := must.Get(New(p, text))(t)
	defer s.Close()
	config := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"token": tftypes.String}}
	configure := func(token string) []*tfprotov6.Diagnostic {
		v := must.Get(tfprotov6.NewDynamicValue(config, tftypes.NewValue(config, map[string]tftypes.Value{"token": str(token)})))(t)
		return must.Get(s.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: &v}))(t).Diagnostics
	}
	wantMasked(t, configure("t0ken-bad"), "token (secret) is revoked")
	if diags := configure("t0ken-good"); len(diags) > 0 {
		t.Fatalf("%+v", diags[0])
	}
	typ := must.Get(s.resource("vault_account"))(t)
	for user, want := range map[string]string{
		"fault": "no user with password (secret) and key (secret)", "error": "login with (secret), (secret) failed",
	} {
		keys := tftypes.NewValue(typ.byName["keys"].typ, []tftypes.Value{with(typ.byName["keys"].elem, map[string]tftypes.Value{"text": str("s3cret-key")})})
		v := must.Get(typ.dynamicValue(with(typ.shape, map[string]tftypes.Value{"user": str(user), "password": str("s3cret-word"), "keys": keys})))(t)
		null := must.Get(typ.dynamicValue(tftypes.NewValue(typ.typ, nil)))(t)
		plan := must.Get(s.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
			TypeName: "vault_account", PriorState: null, Config: v, ProposedNewState: v,
		}))(t)
		wantMasked(t, plan.Diagnostics, want)
	}
}

func wantMasked(t *testing.T, diags []*tfprotov6.Diagnostic, want string) {
	t.Helper()
	var all strings.Builder
	for _, d := range diags {
		all.WriteString(d.Summary + "\n" + d.Detail + "\n")
	}
	if got := all.String(); !strings.Contains(got, want) || strings.Contains(got, "s3cret") || strings.Contains(got, "t0ken") {
		t.Errorf("%s\nwant %s", got, want)
	}
}
