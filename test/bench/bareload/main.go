// Command bareload loads all packages in a directory tree the way cidlc does, then discards them. It provides a lower
// bound on the cost of running cidlc.
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bareload FOLDER")
		os.Exit(2)
	}
	pkgs, err := packages.Load(&packages.Config{
		Dir: os.Args[1],
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
	}, "./...")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if packages.PrintErrors(pkgs) > 0 {
		os.Exit(1)
	}
}
