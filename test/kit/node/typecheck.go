package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TypeCheck has the TypeScript compiler judge files that import @lumi/lumi, all in one call and under every strict
// option, without writing any output.
func TypeCheck(t *testing.T, checkout string, files []string) {
	t.Helper()
	checkout, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
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
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tsconfig.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	Compile(t, checkout, dir, "--project", dir)
}
