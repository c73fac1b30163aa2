package cli

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lumi-idl/lumi/internal/cli/workspace"
)

func TestMain(m *testing.M) {
	workspace.WorkFactor = 10
	testscript.Main(m, map[string]func(){"lumi": func() { os.Exit(Main("")) }})
}
