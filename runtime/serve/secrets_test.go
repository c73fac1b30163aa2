package serve

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/bags"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// leak is author's code that leaks secrets. how selects how it leaks them.
func leak(how string, s *state) error {
	secret := *s.Properties.Secret
	switch how {
	case "plain":
		return fmt.Errorf("no account %s, or %q", secret, secret)
	case "forms":
		text, err := json.Marshal(map[string]string{"key": secret})
		return errors.Join(err, fmt.Errorf("sent %s to http://host/?a=%s with Basic %s", text, url.QueryEscape(secret),
			base64.StdEncoding.EncodeToString([]byte("me:"+secret))))
	case "fault":
		return lumi.Faultf(lumi.Path("vault").Key("my account").Field("password"), "%s is weak", secret)
	case "key":
		var all []error
		for _, key := range slices.Sorted(maps.Keys(s.Properties.Vault)) {
			all = append(all, lumi.Faultf(lumi.Path("vault").Key(key).Field("password"), "%s is no account", key))
		}
		return errors.Join(all...)
	case "anything":
		return fmt.Errorf("what is %v", s.Properties.Vault["my account"].Anything)
	case "wrapped":
		return fmt.Errorf("with %s: %w", secret, errors.Join(lumi.Faultf("do", "is %s", secret), errors.New(secret)))
	case "retry":
		return fmt.Errorf("with %s: %w", secret, &lumi.RetryError{Err: errors.New(secret)})
	case "missing":
		return fmt.Errorf("with %s: %w", secret, lumi.ErrNotFound)
	case "output":
		return &lumi.OutputError{Faults: []lumi.Fault{{Path: lumi.Path("vault").Key(secret), Message: secret}}}
	case "replace":
		return &lumi.ReplaceError{Paths: []lumi.Path{"secret", lumi.Path("vault").Key(secret)}}
	case "reference":
		ref, _ := s.Refs.Resolve(otherURN)
		return fmt.Errorf("refers to %v", ref.Properties.Struct().AsMap())
	case "unwrapped":
		ref, _ := s.Refs.Resolve(otherURN)
		token := ref.Properties.Struct().Fields["token"].GetStructValue().Fields["value"]
		bags.Set(&ref.Properties, "token", token)
		return fmt.Errorf("refers to %v", token.AsInterface())
	case "configuration":
		return errors.New("wrong password: " + configured)
	case "made":
		s.Properties.Password = new("made-by-the-provider")
		return errors.New("cannot set " + *s.Properties.Password)
	case "panic":
		panic("no account " + secret)
	case "panic error":
		panic(fmt.Errorf("no account %q", secret))
	case "panic value":
		panic(confused{secret})
	case "made panic":
		s.Properties.Password = new("made-by-the-provider")
		panic(*s.Properties.Password)
	case "confused":
		return confused{secret}
	case "retry confused":
		return &lumi.RetryError{Err: confused{secret}}
	case "confused fault":
		return fmt.Errorf("x: %w", errors.Join(lumi.Faultf("do", "is %s", secret), confused{secret}))
	case "typed nil":
		return (*broken)(nil)
	case "log":
		slog.Info("trying "+secret, "secret", secret, "quoted", fmt.Sprintf("%q", secret), "any", []string{secret},
			"error", errors.New(secret), slog.Group("group", "secret", secret))
		slog.Default().With("with", secret).Warn("still trying")
		log.Print("printing ", secret)
		return nil
	case "long":
		return errors.New(strings.Repeat("x", maxMessage-5) + secret)
	case "many":
		return errors.New(strings.Repeat(secret+" ", 1<<20))
	case "list":
		return errors.New(strings.Join(s.Properties.List, ", "))
	}
	return nil
}

// confused is an error and a panic value whose methods panic with the value itself.
type confused struct{ secret string }

func (c confused) Error() string { panic(c) }

func (c confused) String() string { panic(c) }

// broken is an error whose methods panic if it is nil.
type broken struct{ err error }

func (e *broken) Error() string { return e.err.Error() }

func (e *broken) Unwrap() error { return e.err }

const hush = `hush "hush"`

// leakyBag returns properties with secrets of all kinds: declared, wrapped, or both, in keys, and in lists. how is passed to
// leak.
func leakyBag(t *testing.T, how string) *structpb.Struct {
	t.Helper()
	bag := jsonBag(t, `{"name": "a", "vault": {"$sig": "$secret", "value": {
		"my account": {"password": "password", "anything": {
			"key of an item": ["an item", {"anything": "a value"}], "no": 123456789
		}},
		"a secret account": {"password": {"$sig": "$secret", "value": "vault-key"}}
	}}, "list": ["open item", {"$sig": "$secret", "value": "secret item"}]}`)
	bag.Fields["do"] = structpb.NewStringValue("leak " + how)
	bag.Fields["secret"] = structpb.NewStringValue(hush)
	return bag
}

func TestMasked(t *testing.T) {
	both(t, "configurable", func(t *testing.T, p called, _ *child) {
		password := func(region string) *structpb.Struct {
			return jsonBag(t, `{"region": "`+region+`", "password": "configured secret"}`)
		}
		for region, want := range map[string]string{
			"leak": `no account with "(secret)"`, "leaking fault": `password: "(secret)" is wrong`,
		} {
			if err := p.Configure(within(t), lumi.BagOf(password(region))); err == nil || err.Error() != want {
				t.Errorf("Configure with %s returned %v, want %s", region, err, want)
			}
		}
		must.Do(t, p.Configure(within(t), lumi.BagOf(password("here"))))
		things := must.Get(p.Resource(thingToken))(t)
		refs := lumi.References{otherURN: {ID: "o-1", Properties: lumi.BagOf(jsonBag(t, `{
			"plain": "x", "token": {"$sig": "$secret", "value": {"token key": "referred to"}}
		}`))}}
		var invalid *lumi.InvalidError
		var output *lumi.OutputError
		var replace *lumi.ReplaceError
		var retry *lumi.RetryError
		var other *plugin.Error
		for how, test := range map[string]struct {
			kind any
			want string
		}{
			"plain":    {&other, `no account (secret), or "(secret)"`},
			"forms":    {&other, `sent {"key":"(secret)"} to http://host/?a=(secret) with Basic bWU6(secret)`},
			"fault":    {&invalid, "vault[…].password: (secret) is weak"},
			"key":      {&invalid, "vault[…].password: (secret) is no account\nvault[…].password: (secret) is no account"},
			"anything": {&other, "what is map[(secret):[(secret) map[anything:(secret)]] no:1.23456789e+08]"},
			"wrapped":  {&invalid, "do: with (secret): is (secret)\nwith (secret): (secret)"},
			"retry":    {&retry, "with (secret): (secret)"},
			"missing":  {&other, "with (secret): no such resource"},
			"output":   {&output, "the provider returned an invalid result: vault[…]: (secret)"},
			"replace":  {&replace, "changing secret, vault[…] requires a replacement, not an update"},
			"reference": {&other, "refers to map[plain:x token:map[" + wire.Signature + ":" + wire.Secret +
				" value:map[(secret):(secret)]]]"},
			"unwrapped":      {&other, "refers to map[(secret):(secret)]"},
			"configuration":  {&other, "wrong (secret): (secret)"},
			"made":           {&other, "cannot set (secret)"},
			"panic":          {&other, "the provider panicked: no account (secret)"},
			"panic error":    {&other, `the provider panicked: no account "(secret)"`},
			"panic value":    {&other, "the provider panicked: serve.confused: its Error method panicked"},
			"made panic":     {&other, "the provider panicked: (secret)"},
			"confused":       {&other, "serve.confused: its Error method panicked"},
			"retry confused": {&retry, "*lumi.RetryError: its Error method panicked"},
			"typed nil":      {&other, "*serve.broken: its Error method panicked"},
			"list":           {&other, "open item, (secret)"},
		} {
			for name, call := range map[string]func(*structpb.Struct) error{
				"check": func(bag *structpb.Struct) error {
					_, err := things.Check(within(t), &lumi.CheckRequest{URN: thingURN, Properties: lumi.BagOf(bag), References: refs})
					return err
				},
				"create": func(bag *structpb.Struct) error {
					_, err := create(bag, refs)(within(t), things)
					return err
				},
				"partly": func(bag *structpb.Struct) error {
					bag.Fields["do"] = structpb.NewStringValue("partly " + bag.Fields["do"].GetStringValue())
					_, err := create(bag, refs)(within(t), things)
					var partial *lumi.PartialError
					if !errors.As(err, &partial) || partial.ID != "t-half" {
						if strings.Contains(how, "panic") {
							return err
						}
						return fmt.Errorf("not partially done: %w", err)
					}
					if partial.Properties.Get("secret") != hush {
						t.Errorf("%s: secret = %v, want %s", how, partial.Properties, hush)
					}
					return partial.Err
				},
				"delete": func(bag *structpb.Struct) error {
					_, err := things.Delete(within(t), &lumi.DeleteRequest{
						URN: thingURN, ID: "t-1", Properties: lumi.BagOf(bag), References: refs,
					})
					return err
				},
			} {
				err := call(leakyBag(t, how))
				switch {
				case name == "delete" && (how == "missing" || how == "made" || how == "made panic"):
					continue // Delete does not behave this way.
				case how == "typed nil" && name != "partly": // Without a resource, such a method may panic.
					if err == nil {
						t.Errorf("%s with %s returned nil, want an error", name, how)
					}
				case err == nil || err.Error() != test.want || !errors.As(err, test.kind):
					t.Errorf("%s with %s returned %T\n%v\nwant\n%s", name, how, err, err, test.want)
				}
			}
		}
	})
}

func TestMaskedBounds(t *testing.T) {
	bothThings(t, func(t *testing.T, things lumi.ResourceProvider) {
		for _, how := range []string{"long", "many", "confused fault"} {
			_, err := check(leakyBag(t, how))(within(t), things)
			if err == nil || len(err.Error()) > maxMessage || strings.Contains(err.Error(), "hush") {
				t.Errorf("%s: error = %.200v, want a short error without the secret", how, err)
			}
		}
		// An error contains thousands of secrets.
		bag := leakyBag(t, "list")
		list := &structpb.ListValue{}
		for i := range 8000 {
			list.Values = append(list.Values, lumi.NewSecret(structpb.NewStringValue(fmt.Sprint("secret item number ", i))))
		}
		bag.Fields["list"] = structpb.NewListValue(list)
		_, err := check(bag)(within(t), things)
		if err == nil || strings.Contains(err.Error(), "number") || !strings.HasPrefix(err.Error(), "(secret), (secret), ") {
			t.Errorf("error = %.200v, want masked secrets", err)
		}
		// An error contains a huge secret.
		bag = leakyBag(t, "plain")
		huge := strings.Repeat("huge secret ", 1<<20)
		bag.Fields["secret"] = structpb.NewStringValue(huge)
		var e *plugin.Error
		if _, err := check(bag)(within(t), things); !errors.As(err, &e) || e.Code != codes.Unknown ||
			strings.Contains(err.Error(), "huge") || !strings.HasPrefix(err.Error(), "no account (secret)") {
			t.Errorf("error = %.200v, want a masked secret", err)
		}
	})
}

func TestMaskedLog(t *testing.T) {
	t.Setenv("LUMI_LOG", "debug")
	p := start(t, "plugin")
	things := p.resource(t, thingToken)
	must.Get(check(leakyBag(t, "log"))(within(t), things))(t)
	for _, how := range []string{"plain", "panic", "panic error", "panic value", "made panic"} {
		if _, err := check(leakyBag(t, how))(within(t), things); err == nil {
			t.Errorf("Check with %s returned nil, want an error", how)
		}
	}
	must.Do(t, p.Close())
	told := p.log.String()
	for _, want := range []string{
		`msg="trying (secret)" provider=test secret="(secret)" quoted="\"(secret)\"" any="[(secret)]" error="(secret)"` +
			` group.secret="(secret)"`,
		`msg="still trying" provider=test with="(secret)"`,
		`msg="printing (secret)"`,
		`msg="the provider panicked" provider=test call=Check panic="no account (secret)"`,
		`panic="serve.confused: its Error method panicked"`,
		"serve.leak(", // in the stack
		`call=Check code=Unknown`,
	} {
		if !strings.Contains(told, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	if strings.Contains(told, "hush") || strings.Contains(told, "made-by") {
		t.Errorf("the log contains a secret:\n%s", told)
	}
}
