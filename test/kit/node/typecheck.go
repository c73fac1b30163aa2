package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// TypeCheck type-checks TypeScript files in a single run of the compiler, with every strict option. The files may import
// @lumi/lumi. The test fails if the compiler reports errors.
func TypeCheck(t *testing.T, checkout string, files []string) {
	t.Helper()
	checkout = must.Get(filepath.Abs(checkout))(t)
	lumi := Package(t, checkout)
	config := map[string]any{
		"compilerOptions": map[string]any{
			"target": "es2022", "lib": []string{"es2022"}, "module": "nodenext", "noEmit": true, "types": []string{},
			"strict": true, "verbatimModuleSyntax": true, "isolatedModules": true, "exactOptionalPropertyTypes": true,
			"noUncheckedIndexedAccess": true, "noImplicitOverride": true, "noPropertyAccessFromIndexSignature": true,
			"noUnusedLocals": true, "noFallthroughCasesInSwitch": true, "erasableSyntaxOnly": true,
			"moduleDetection": "force",
			"paths":           map[string][]string{"@lumi/lumi": {filepath.Join(lumi, "dist", "index.d.ts")}},
		},
		"files": files,
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "tsconfig.json"), must.Get(json.Marshal(config))(t), 0o644))
	Compile(t, checkout, dir, "--project", dir)
}
