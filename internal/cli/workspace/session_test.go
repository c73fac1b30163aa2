package workspace

import (
	"os"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestPasswordInFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for state, refused := range map[string]bool{
		"postgres://ann:hunter2@h/x": true, "postgres://ann@h/x?password=hunter2": true, "postgres://ann@h/x?sslpassword=hunter2": true,
		"postgres://ann@h/x": false, "postgres:///x": false,
	} {
		must.Do(t, os.WriteFile("Lumi.yaml", []byte("package: p\nproject: p\nstate: "+state+"\n"), 0o600))
		_, err := Find()
		isRefused := err != nil && strings.Contains(err.Error(), "state must not contain a password") && !strings.Contains(err.Error(), "hunter2")
		if isRefused != refused || !refused && err != nil {
			t.Errorf("Find() with state %s = %v, want a refusal: %t", state, err, refused)
		}
	}
}
