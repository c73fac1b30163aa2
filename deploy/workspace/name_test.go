package workspace_test

import (
	"testing"

	"github.com/lumi-idl/lumi/deploy/workspace"
)

func TestCutName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, module, key string
		ok                bool
	}{
		{"password", "", "password", true}, {"shop.password", "shop", "password", true}, {"my/shop.pass-word", "my/shop", "pass-word", true},
		{"", "", "", false}, {".password", "", "password", false}, {"shop.", "shop", "", false}, {"a.b.c", "a.b", "c", false}, {"Shop.a", "Shop", "a", false},
	} {
		module, key, ok := workspace.CutName(test.name)
		if module != test.module || key != test.key || ok != test.ok {
			t.Errorf("CutName(%q) = %q, %q, %t, want %q, %q, %t", test.name, module, key, ok, test.module, test.key, test.ok)
		}
	}
}
