package cli

import (
	"bufio"
	"fmt"
	"io"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
)

func TestBatchFlush(t *testing.T) {
	requests, send := io.Pipe()
	receive, answers := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- runLumi(t.Context(), []string{"yaql", "--batch"}, requests, answers, io.Discard, noEnv)
		_ = answers.Close()
	}()
	lines := bufio.NewReader(receive)
	for n := range 3 {
		fmt.Fprintf(send, `{"expression": "$ + 1", "data": %d}`+"\n", n)
		got, err := lines.ReadString('\n')
		if want := fmt.Sprintf(`{"value":%d}`+"\n", n+1); got != want {
			t.Fatalf("answer = %q (%v), want %q", got, err, want)
		}
	}
	_ = send.Close()
	if got := <-code; got != console.ExitOK {
		t.Errorf("exit code = %d, want %d", got, console.ExitOK)
	}
}
