package main

import (
	"io"

	"github.com/lumi-idl/lumi/idl/breaking"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/internal/catalog"
)

// explain prints the catalog entries of the given codes or, without codes, a list of all codes.
func explain(w io.Writer, codes []string) error {
	all := append(diag.Catalog(), breaking.Catalog()...)
	chosen, err := all.Select(codes, "cidlc explain")
	if err != nil {
		return err
	}
	out := chosen.Explain(func(e catalog.Entry) string { return "# " + e.Code })
	if len(codes) == 0 {
		out = all.List(func(title string) string { return title }) +
			"'cidlc explain CODE' explains a code, with examples.\n"
	}
	_, err = io.WriteString(w, out)
	return err
}
