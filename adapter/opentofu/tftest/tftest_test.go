package tftest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

const boxFixture = `{
  "vertices": {
    "big": {
      "type": "fake:index:Box",
      "create": {
        "name": "big", "pin": "1234", "tags": {"a": "b"}, "items": [{"label": "x"}, {"label": "y", "rank": 2}],
        "anything": {"list": [1, "two", null, true]}
      },
      "expect": {"lidColor": "red", "items": [{"label": "x", "rank": 1}, {"label": "y"}]},
      "updates": [{"set": {"lidColor": "blue"}, "expect": {"lidColor": "blue"}}, {"set": {"items": null, "anything": [[]]}}],
      "replaces": [{"set": {"name": "bigger"}, "because": ["name"]}],
      "faults": [{"set": {"name": ""}, "expect": ["name: must not be empty"]}]
    },
    "small": {
      "type": "fake:index:Box",
      "create": {"name": "small", "owner": {"#ref": "big"}, "lender": {"#ref": "big"}, "keys": {"code": "1"}, "tags": {"of": {"#ref": "big", "property": "name"}}, "anything": {"#ref": "big", "property": "serial"}},
      "replaces": [{"set": {"name": "smaller"}}]
    }
  }
}`

// reports returns the failures of the kit with a provider and a fixture.
func reports(t *testing.T, f *fake, fixture string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "fixture.json")
	if err := os.WriteFile(file, []byte(fixture), 0o600); err != nil {
		t.Fatal(err)
	}
	var found []string
	trial := &providertest.Trial{
		Ctx:    t.Context(),
		Report: func(text string) { found = append(found, strings.ReplaceAll(text, file, "fixture.json")) },
		Log:    func(text string) { t.Log(text) },
	}
	trial.Do(func() { test(trial, f, boxes, []tokens.Type{"fake:index:Box"}, file, CreateFirst("small")) })
	trial.End()
	return found
}

// A correct provider passes, and nothing is left of its resources.
func TestRight(t *testing.T) {
	t.Parallel()
	f := newFake()
	if found := reports(t, f, boxFixture); len(found) > 0 {
		t.Errorf("unexpected failures:\n%s", strings.Join(found, "\n"))
	}
	if len(f.boxes) > 0 || f.created == 0 || f.configured != 1 {
		t.Errorf("left %v, created %d, configured %d times", f.boxes, f.created, f.configured)
	}
}

// Mistakes in a fixture end the test before the provider is configured, and calls of functions are skipped.
func TestFixtures(t *testing.T) {
	t.Parallel()
	for fixture, want := range map[string]string{
		`{"vertices": {}}`:  `fixture.json: 1:1: a fixture must contain a resource to test (at /vertices)`,
		`{"resources": {}}`: `fixture.json: 1:1: expected a file with "vertices", got one with "resources"`,
		`{"vertices": {"a": {"type": "fake:index:Lid", "create": {}}}}`: `a: the provider does not serve fake:index:Lid`,
		`{"vertices": {"a": {"type": "fake:index:Box", "create": {"name": "a"}}, "b": {"type": "fake:index:Box", "create": {"name": "b", "owner": {"#ref": "a", "property": "lid"}}}}}`: `fake_box "b": plan with name unknown: fake_box has no attribute for lid`,
		`{"vertices": {"a": {"type": "fake:index:Find", "call": {"name": "a"}}, "b": {"type": "fake:index:Box", "create": {"name": {"#ref": "a", "property": "x"}}}}}`:                  ``,
	} {
		found := reports(t, newFake(), fixture)
		if len(found) == 0 {
			found = append(found, "")
		}
		if !slices.Equal(found, []string{want}) {
			t.Errorf("%s: found %q, expected %q", fixture, found, want)
		}
	}
	if found := reports(t, &fake{}, ""); len(found) != 1 {
		t.Errorf("an empty fixture: found %q", found)
	}
}
