package diag

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"

	"github.com/lumi-idl/lumi/internal/visible"
)

// JSON prints diagnostics for machines, in the order given: each is one object on a line of its own, with the members
// that [Diagnostic] names. What could drive a terminal stands there as an escape. The error returned is the writer's.
func JSON(w io.Writer, list []Diagnostic) error {
	out := bufio.NewWriter(w)
	for i := range list {
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(&list[i]); err != nil {
			return err
		}
		if _, err := out.WriteString(escapeHidden(bytes.TrimSuffix(line.Bytes(), []byte("\n"))) + "\n"); err != nil {
			return err
		}
	}
	return out.Flush()
}

// escapeHidden escapes the runes that package json leaves as they are although they show nothing. They can stand
// nowhere in JSON but in its strings, so no parsing is needed.
func escapeHidden(text []byte) string {
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case !visible.Hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
