package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// explain prints the entries of the catalogue for some codes, or the list of all codes.
func explain(w io.Writer, codes []string) error {
	var out strings.Builder
	for i, code := range codes {
		text, ok := diag.Explain(code)
		if !ok {
			hint := "'cidlc explain' lists all codes"
			if near := suggest.Name(code, diag.Codes()); near != "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			}
			return fmt.Errorf("no diagnostic has the code %q; %s", code, hint)
		}
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(text)
	}
	if len(codes) == 0 {
		for _, group := range diag.Groups() {
			fmt.Fprintf(&out, "%s:\n", group.Title)
			for _, code := range group.Codes {
				fmt.Fprintf(&out, "    %s\n", code)
			}
			out.WriteString("\n")
		}
		out.WriteString("'cidlc explain CODE' says what a code means, with wrong and right examples.\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
