// Command cidlc compiles resource types, declared in a subset of Go, to a TypeScript package for programs and Go stubs
// for the provider.
//
//	cidlc [flags] IDL-DIR
//	cidlc breaking --against=BASE [flags] IDL-DIR
//	cidlc explain [CODE…]
//
// See 'cidlc --help' and docs/command.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
)

func main() {
	relaxGC()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // restore the default, so that a second signal kills the process
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// version is set by 'make dist'.
var version string

// run runs cidlc with the given arguments and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	err := dispatch(ctx, args, stdout, stderr, getenv)
	switch {
	case err == nil:
		return console.ExitOK
	case errors.Is(err, console.ErrWrong):
		return console.ExitWrong
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "cidlc: interrupted; each file is either unchanged or complete")
	default:
		fmt.Fprintln(stderr, "cidlc: "+term.Paragraph(err.Error()))
	}
	return console.ExitFailed
}

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) error {
	opts, err := parseFlags(args)
	if err != nil {
		return err
	}
	switch {
	case opts.help:
		_, err = io.WriteString(stdout, help())
	case opts.version:
		_, err = fmt.Fprintln(stdout, console.VersionLine("cidlc", version))
	case opts.explain:
		err = explain(stdout, opts.codes)
	case opts.breaking:
		err = newCompiler(opts, stdout, stderr, getenv).breakingChanges(ctx)
	default:
		err = newCompiler(opts, stdout, stderr, getenv).run(ctx)
	}
	return err
}
