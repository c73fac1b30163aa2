//go:build race

package serve

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

const racingRole = "racing"

func init() {
	if os.Getenv(roleVariable) == racingRole {
		race()
		os.Exit(0)
	}
}

// race has a data race.
func race() {
	var wg sync.WaitGroup
	shared := 0
	for range 2 {
		wg.Go(func() {
			for range 1000 {
				shared++
			}
		})
	}
	wg.Wait()
}

// The race detector also works in processes started by tests.
func TestRaceDetected(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = env(racingRole)
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 66 || !strings.Contains(string(said), "WARNING: DATA RACE") {
		t.Errorf("error = %v, output = %s, want exit code 66 with a data race", err, said)
	}
}
