package tasktype_test

import (
	"crypto/rand"
	"flag"
	"os"
	"testing"
)

var exampleToken = rand.Text()

func TestMain(m *testing.M) {
	state, err := os.MkdirTemp("", "lumi-state")
	if err != nil {
		panic(err)
	}
	if err := os.Setenv("XDG_STATE_HOME", state); err != nil {
		panic(err)
	}
	// The tests spend most of their time waiting for other processes.
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(state)
	os.Exit(code)
}
