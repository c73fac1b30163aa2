package programs_test

import (
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// The programs compile in strict mode and evaluate to graph.json.
func TestGraphs(t *testing.T) {
	t.Parallel()
	programs, lumi := node.Programs(t, must.Get(filepath.Abs("../../.."))(t), "local")
	command := filepath.Join(lumi, "dist", "bin", "lumi-program.js")
	for _, program := range []string{"site"} {
		got := node.Run(t, programs, "node", command, filepath.Join(program, "main.js"))
		golden.File(t, filepath.Join(program, "graph.json"), got)
		must.Get(lumigl.ParseSnapshot(got))(t)
	}
}
