package providertest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

const notes = "./testdata/lumi-resource-notes"

// Repeated calls of Build build a command once.
func TestBuild(t *testing.T) {
	path := providertest.Build(t, notes)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(providertest.Build(t, notes))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("second Build made another file or failed: %v, want the same file", err)
	}
	if filepath.Base(path) != "lumi-resource-notes" {
		t.Errorf("Build = %s, want lumi-resource-notes", path)
	}
	h := providertest.Binary(t, plugin.Command{Path: path}, providertest.Config(providertest.Properties{"log": false}))
	n := h.Resource("notes:index:Note", "shopping")
	n.Life(t, providertest.Life{
		Create:   providertest.Properties{"name": "shopping", "text": "milk and honey"},
		Updates:  []providertest.Change{{Set: providertest.Properties{"text": "bread and butter"}}},
		Replaces: []providertest.Replacement{{Set: providertest.Properties{"name": "errands"}}},
	})
}

// Build errors and mistakes in a plugin's process are reported.
func TestBinaryReports(t *testing.T) {
	path := providertest.Build(t, notes)
	start := func(t providertest.TB, log bool) *providertest.Resource {
		h := providertest.Binary(t, plugin.Command{Path: path}, providertest.Config(providertest.Properties{"log": log}))
		return h.Resource("notes:index:Note", "shopping")
	}
	for _, test := range []struct {
		name string
		test func(t providertest.TB)
		want []string // parts of the report, in order
	}{
		{"log", func(t providertest.TB) {
			start(t, true).Create(t, providertest.Properties{"name": "shopping", "text": "milk and honey"})
		}, []string{"the provider's log contains a secret:\n", "created text=(secret)"}},
		{"crash", func(t providertest.TB) {
			start(t, false).Create(t, providertest.Properties{"name": "shopping", "text": "crash"})
		}, []string{
			`notes:index:Note "shopping": create: Create failed: the plugin is gone (exit status 7): `,
			"cannot stop the plugin: the plugin did not exit cleanly: exit status 7\n",
		}},
		{"no such package", func(t providertest.TB) { providertest.Build(t, "./testdata/nothing") }, []string{
			"cannot build ./testdata/nothing: exit status 1\n", "directory not found",
		}},
		{"several", func(t providertest.TB) { providertest.Build(t, "./testdata/pair/...") }, []string{
			"./testdata/pair/... is not a single command: go build makes 2 binaries\n",
		}},
		{"no command", func(t providertest.TB) { providertest.Build(t, "../urn") }, []string{
			"cannot build ../urn: exit status 1\n\tgo: no main packages to build\n",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := run(t, test.test)
			rest := report
			for _, part := range test.want {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("report lacks %q:\n%s", part, report)
				}
				rest = after
			}
			if test.name == "log" && report != said(report) {
				t.Errorf("report lists unrelated calls:\n%s", report)
			}
			if strings.Contains(report, "honey") {
				t.Errorf("the report contains the secret:\n%s", report)
			}
		})
	}
}

// The kit does not import package testing, which would add its flags to commands that use the kit.
func TestWithoutTesting(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil || slices.Contains(strings.Fields(string(out)), "testing") {
		t.Errorf("go list error = %v; the kit must not depend on package testing", err)
	}
}

// The plugin's log is written to Command.Log.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	t.Run("plugin", func(t *testing.T) {
		h := providertest.Binary(t, plugin.Command{Path: providertest.Build(t, notes), Log: &log},
			providertest.Config(providertest.Properties{"log": true}))
		h.Resource("notes:index:Note", "shopping").Create(t, providertest.Properties{"name": "shopping", "text": "eggs"})
	})
	if !strings.Contains(log.String(), "text=eggs") {
		t.Errorf("log = %s, want text=eggs", &log)
	}
}
