package pages_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every message quoted in docs/provisioners.md occurs in a test.
func TestProvisionerErrors(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	var tests strings.Builder
	for _, file := range []string{
		"cmd/lumi/testdata/script/provisioners.txtar", "deploy/provision/external_test.go",
		"deploy/run/provisioner_test.go", "deploy/run/testdata/provisioned.txtar", "runtime/serve/plugin/json_test.go",
	} {
		tests.WriteString(read(t, filepath.Join(root, filepath.FromSlash(file))))
	}
	caused := strings.NewReplacer(`\`, "", "${PATHVAR}", "$PATH").Replace(tests.String())
	_, table, _ := strings.Cut(read(t, filepath.Join(root, "docs", "provisioners.md")), "## Errors\n")
	found := 0
	for _, row := range regexp.MustCompile(`(?m)^\| .+? \| (.*?) \|`).FindAllStringSubmatch(table, -1) {
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			found++
			if !strings.Contains(caused, quoted[1]) {
				t.Errorf("no test contains the message %q", quoted[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("docs/provisioners.md quotes %d messages, want at least 20", found)
	}
}
