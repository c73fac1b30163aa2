package job

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestHasEnded(t *testing.T) {
	t.Parallel()
	if start(os.Getpid()) == "" {
		t.Skip("the system does not provide the start time of a process")
	}
	us := self()
	parts := strings.Split(us, "/")
	begun, _, _ := strings.Cut(parts[2], "-")
	for owner, want := range map[string]bool{
		us: false,
		fmt.Sprintf("%s/%d/1%s", parts[0], os.Getpid(), machine()): true,
		fmt.Sprintf("%s/4194305/1%s", parts[0], machine()):         true,
		"elsewhere/4194305/1" + machine():                          false,
		// Other machines and containers with the same name have processes of their own.
		parts[0] + "/4194305/1-000000":             false,
		parts[0] + "/4194305/" + begun + "-000000": false,
		"":     false,
		"a/b/": false,
	} {
		if got := hasEnded(owner); got != want {
			t.Errorf("hasEnded(%q) = %t, want %t", owner, got, want)
		}
	}
}
