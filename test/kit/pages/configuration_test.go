package pages_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/tutorial"
)

func TestConfiguration(t *testing.T) {
	if testing.Short() {
		t.Skip("deploys")
	}
	t.Parallel()
	checkout, env := deployer(t)
	page := func(name, heading string) []tutorial.Step {
		return must.Get(tutorial.Steps(read(t, filepath.Join(checkout, "docs", name)), heading))(t)
	}
	project := page("deploy.md", "Set up")[0]
	project.Text = strings.ReplaceAll(project.Text, install, offline)
	r := &tutorial.Reader{Page: "docs/configuration.md", Dir: t.TempDir(), Env: append(env, "LUMI_PASSPHRASE=secret", "LUMI_AGE_IDENTITY="), Errors: true}
	r.Do(t, append([]tutorial.Step{project}, page("configuration.md", "")...)...)
}
