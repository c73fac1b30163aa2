package local_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	local "github.com/lumi-idl/lumi/examples/local/provider"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func testReadFile(t *testing.T, h *providertest.Harness) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "one", "empty": "", "binary": "\xff", "large": strings.Repeat("a", 16<<20+1)} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	read := h.Function(local.ReadFile)
	read.Call(t, providertest.Call{
		Arguments: props{"path": dir + "/a.txt"},
		Expect:    props{"content": "one", "size": 3, "checksum": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"},
	})
	read.Call(t, providertest.Call{Arguments: props{"path": dir + "/empty"}, Expect: props{"content": "", "size": 0}})
	for name, want := range map[string]string{
		"binary": "the file is not UTF-8 text", "large": "the file is larger than 16 MiB",
		"gone": strconv.Quote(filepath.Join(dir, "gone")) + ": no such file", ".": strconv.Quote(dir) + ": is a folder, not a file",
	} {
		read.Call(t, providertest.Call{Arguments: props{"path": filepath.Join(dir, name)}}, providertest.WantFaults("path: "+want))
	}
	read.Call(t, providertest.Call{Arguments: props{"path": ""}}, providertest.WantFaults("path: must have at least 1 character, found 0"))
}
