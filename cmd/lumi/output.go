package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/lumi-idl/lumi/internal/atomicfile"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/spf13/cobra"
)

// output is where a command writes its result: the file that --output names, or standard output.
type output struct {
	name  string // empty for standard output
	force bool
}

// outputVar declares --output, for a file that has one of some extensions, and --force.
func outputVar(c *cobra.Command, o *output, what string, extensions ...string) {
	flags := c.Flags()
	flags.StringVarP(&o.name, "output", "o", "", "write "+what+" to `FILE`; - is standard output")
	flags.BoolVar(&o.force, "force", false, "let --output overwrite an existing file")
	_ = c.MarkFlagFilename("output", extensions...)
}

// misuse returns an error if the flags contradict each other.
func (o *output) misuse() error {
	if o.name == stdinArg {
		o.name = "" // which is standard output here
	}
	if o.force && o.name == "" {
		return console.Misused("--force needs --output with the name of a file")
	}
	return nil
}

// free returns an error unless the file may be written. The input is never overwritten, whatever it is called, and
// symbolic links are not followed.
func (o *output) free(con *console.Console, input string) error {
	if o.name == "" {
		return nil
	}
	info, err := os.Lstat(o.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fileError(o.name, err)
	case sameFile(con, input, o.name):
		return fmt.Errorf("%s is the input, which is never overwritten", o.name)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link, which is not followed: name the file itself", o.name)
	case info.IsDir():
		return fmt.Errorf("%s is a directory", o.name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", o.name)
	case !o.force:
		return fmt.Errorf("%s already exists (use --force to overwrite)", o.name)
	}
	return nil
}

// sameFile reports whether an argument that is read is the file of a name.
func sameFile(con *console.Console, input, name string) bool {
	stat := func() (fs.FileInfo, error) { return os.Stat(input) }
	if file, ok := con.Stdin.(*os.File); ok && input == stdinArg {
		stat = file.Stat
	}
	in, err := stat()
	if err != nil {
		return false
	}
	out, err := os.Stat(name)
	return err == nil && os.SameFile(in, out)
}

// write writes the file, whole or not at all, unless it must not be written by now. A new file gets the mode.
func (o *output) write(con *console.Console, input string, text []byte, mode fs.FileMode) error {
	console.Writing.Lock()
	defer console.Writing.Unlock()
	if !o.force {
		err := atomicfile.WriteNew(o.name, text, mode)
		if errors.Is(err, fs.ErrExist) { // It was created in the meantime.
			return cmp.Or(o.free(con, input), err)
		}
		return err
	}
	if err := o.free(con, input); err != nil {
		return err
	}
	return atomicfile.WriteMode(o.name, text, mode)
}
