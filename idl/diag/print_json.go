package diag

import (
	"bufio"
	"io"

	"github.com/lumi-idl/lumi/internal/term"
)

// JSON prints each diagnostic as a JSON object on its own line, in the given order, with the members of [Diagnostic].
// Characters that could control a terminal are escaped. It returns the first write error.
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
