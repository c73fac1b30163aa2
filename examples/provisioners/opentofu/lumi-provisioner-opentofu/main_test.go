package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
)

// tofuDir is the output folder of 'make tofu'.
var tofuDir, _ = filepath.Abs("../../../../bin/tofu")

// pluginVariable is the environment variable that makes the test binary run as the plugin.
const pluginVariable = "LUMI_TEST_OPENTOFU_PLUGIN"

func TestMain(m *testing.M) {
	if os.Getenv(pluginVariable) != "" {
		main()
	}
	os.Exit(withTofu(m))
}

// withTofu runs the tests with tofu in $PATH and its providers in a filesystem mirror, and returns the exit code.
func withTofu(m *testing.M) int {
	dir, err := os.MkdirTemp("", "opentofu-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	rc := filepath.Join(dir, "tofu.rc")
	text := "provider_installation {\n  filesystem_mirror {\n    path = \"" + filepath.ToSlash(filepath.Join(tofuDir, "plugins")) + "\"\n  }\n}\n"
	if err := os.WriteFile(rc, []byte(text), 0o600); err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"TF_CLI_CONFIG_FILE": rc, "CHECKPOINT_DISABLE": "1", "PATH": tofuDir + string(filepath.ListSeparator) + os.Getenv("PATH"),
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// needTofu skips the test if 'make tofu' has not been run, and otherwise marks it as parallel.
func needTofu(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(tofuDir, "tofu")); err != nil {
		t.Skip("bin/tofu/tofu not found: run 'make tofu', which takes minutes")
	}
	t.Parallel()
}

// build builds the plugin and returns its path.
func build(t *testing.T) string { return providertest.Build(t, ".") }
