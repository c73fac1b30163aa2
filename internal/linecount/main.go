// Linecount writes docs/size.md, the page that says how many lines of the AWS example are IDL, were written by hand, and
// are generated. It reads the files as they are and looks at nothing but their names and their lines.
//
//	linecount EXAMPLE RUNTIME FILE
package main

import (
	"fmt"
	"os"
)

//go:generate go run . ../../examples/aws ../../runtime ../../docs/size.md

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: linecount EXAMPLE RUNTIME FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "linecount:", err)
		os.Exit(1)
	}
}

func write(example, runtime, file string) error {
	c, err := survey(os.DirFS(example), os.DirFS(runtime))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(page(c)), 0o644)
}
