package diag

import (
	"bufio"
	"io"

	"github.com/lumi-idl/lumi/internal/term"
)

// JSON prints one JSON object per line for each diagnostic, in the given order, with the members of [Diagnostic].
// Characters that could control a terminal are escaped. The error is the writer's.
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
