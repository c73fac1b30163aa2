package diag

import (
	"bufio"
	"io"

	"github.com/lumi-idl/lumi/internal/term"
)

// JSON prints diagnostics for machines, in the order given: each is one object on a line of its own, with the members
// that [Diagnostic] names. What could drive a terminal stands there as an escape. The error returned is the writer's.
func JSON(w io.Writer, list []Diagnostic) error {
	out := bufio.NewWriter(w)
	for i := range list {
		line, err := term.JSON(&list[i])
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
