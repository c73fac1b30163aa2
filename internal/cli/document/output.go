package document

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/atomicfile"
	"github.com/lumi-idl/lumi/internal/cli/console"
)

// Output is the destination of a command's result: the file given by --output, or standard output.
type Output struct {
	Name  string // the file name, or empty for standard output
	Force bool
}

// OutputVar declares the flags --output, which completes files with the given extensions, and --force.
func OutputVar(c *cobra.Command, o *Output, what string, extensions ...string) {
	flags := c.Flags()
	flags.StringVarP(&o.Name, "output", "o", "", "write "+what+" to `FILE`; - is standard output")
	flags.BoolVar(&o.Force, "force", false, "let --output overwrite an existing file")
	_ = c.MarkFlagFilename("output", extensions...)
}

// Misuse returns an error if the flags contradict each other.
func (o *Output) Misuse() error {
	if o.Name == StdinArg {
		o.Name = "" // empty means standard output
	}
	if o.Force && o.Name == "" {
		return console.Misused("--force requires --output with the name of a file")
	}
	return nil
}

// Free returns an error if the output file must not be written. The input is never overwritten, whatever name is used
// for it, and symbolic links are never followed.
func (o *Output) Free(con *console.Console, input string) error {
	if o.Name == "" {
		return nil
	}
	info, err := os.Lstat(o.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return FileError(o.Name, err)
	case sameFile(con, input, o.Name):
		return fmt.Errorf("%s is the input, which is never overwritten", o.Name)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link, which lumi does not follow; name the target file instead", o.Name)
	case info.IsDir():
		return fmt.Errorf("%s is a directory", o.Name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", o.Name)
	case !o.Force:
		return fmt.Errorf("%s already exists (use --force to overwrite)", o.Name)
	}
	return nil
}

// sameFile reports whether the argument input and the file name refer to the same file.
func sameFile(con *console.Console, input, name string) bool {
	stat := func() (fs.FileInfo, error) { return os.Stat(input) }
	if file, ok := con.Stdin.(*os.File); ok && input == StdinArg {
		stat = file.Stat
	}
	in, err := stat()
	if err != nil {
		return false
	}
	out, err := os.Stat(name)
	return err == nil && os.SameFile(in, out)
}

// Write writes the output file atomically, after checking again that it may be written. Mode applies to new files.
func (o *Output) Write(con *console.Console, input string, content atomicfile.Content, mode fs.FileMode) error {
	console.Writing.Lock()
	defer console.Writing.Unlock()
	if !o.Force {
		err := atomicfile.WriteNew(o.Name, content, mode)
		if errors.Is(err, fs.ErrExist) { // created in the meantime
			return cmp.Or(o.Free(con, input), err)
		}
		return err
	}
	if err := o.Free(con, input); err != nil {
		return err
	}
	return atomicfile.WriteMode(o.Name, content, mode)
}
