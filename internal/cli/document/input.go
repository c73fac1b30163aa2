// Package document reads and writes the files of commands. It prints errors in them without revealing secrets.
package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/lumigl"
)

// StdinArg is the argument that selects standard input. StdinName is the name of standard input in messages.
const (
	StdinArg  = "-"
	StdinName = "<stdin>"
)

// Input is a file that has been read.
type Input struct {
	Name string // the name as given, or StdinName
	Src  string
}

// Inputs returns the file arguments. Without arguments, it returns StdinArg, unless standard input is a terminal.
func Inputs(con *console.Console) ([]string, error) {
	if len(con.Args) == 0 {
		if con.StdinIsTerminal {
			return nil, console.Misused("missing file; use - for standard input")
		}
		return []string{StdinArg}, nil
	}
	return con.Args, StdinOnce(con.Args)
}

// Each calls do for each file, and continues after errors. It returns [console.ErrFailed] if any file could not be
// processed, [console.ErrWrong] if any file has errors, and nil otherwise.
func Each(con *console.Console, files []string, do func(name string) error) error {
	var wrong, failed error
	for _, name := range files {
		switch err := do(name); {
		case errors.Is(err, console.ErrWrong):
			wrong = console.ErrWrong
		case err != nil:
			con.Say("%s", err)
			failed = console.ErrFailed
		}
	}
	return cmp.Or(failed, wrong)
}

// StdinOnce returns an error if args contains standard input more than once.
func StdinOnce(args []string) error {
	if i := slices.Index(args, StdinArg); i >= 0 && slices.Contains(args[i+1:], StdinArg) {
		return errors.New("- is given twice, but standard input can be read only once")
	}
	return nil
}

// ReadFile reads a file or, if arg is [StdinArg], standard input.
func ReadFile(con *console.Console, arg string) (*Input, error) {
	if arg == StdinArg {
		in, err := readAll(StdinName, &announced{con.Stdin, con}, sizeOf(con.Stdin))
		if err == nil && !strings.HasSuffix(strings.TrimRight(in.Src, " \t\r\n"), "}") {
			// The input seems truncated. An interrupt may have ended its writer and be about to end this process too.
			time.Sleep(20 * time.Millisecond)
		}
		return in, err
	}
	if name, ok := strings.CutPrefix(arg, workspace.EnvironmentPrefix); ok {
		return nil, fmt.Errorf("%s is the state of an environment, not a file: 'lumi state export --environment=%s -o FILE' writes one", arg, name)
	}
	file, err := os.Open(arg)
	if err != nil {
		return nil, FileError(arg, err)
	}
	defer file.Close()
	con.Doing("reading %s", arg)
	return readAll(arg, file, sizeOf(file))
}

// announced shows a progress message once standard input yields data. Before that, the program writing the data may be
// prompting on the same terminal.
type announced struct {
	io.Reader
	to *console.Console
}

func (a *announced) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 && a.to != nil && !a.to.StdinIsTerminal {
		a.to.Doing("reading %s", StdinName)
		a.to = nil
	}
	return n, err
}

// sizeOf returns the expected size of the input, or 0 if it is unknown.
func sizeOf(r io.Reader) int {
	if file, ok := r.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return int(min(info.Size(), lumigl.DefaultMaxSize)) + 1
		}
	}
	return 0
}

func readAll(name string, r io.Reader, size int) (*Input, error) {
	var b strings.Builder
	b.Grow(size)
	if _, err := io.Copy(&b, io.LimitReader(r, lumigl.DefaultMaxSize+1)); err != nil {
		return nil, FileError(name, err)
	}
	return &Input{Name: name, Src: b.String()}, nil
}

// FileError describes a file error, omitting the name of the system call.
func FileError(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Read reads a file, standard input, or the state of an environment.
func Read(con *console.Console, arg string) (in *Input, err error) {
	name, ok := strings.CutPrefix(arg, workspace.EnvironmentPrefix)
	if !ok {
		return ReadFile(con, arg)
	}
	ctx := context.Background()
	err = workspace.WithEnvironment(ctx, con, name, workspace.Fail, func(s *workspace.Session) error {
		key, err := s.KnownKey(ctx)
		if err != nil {
			return err
		}
		snapshot, err := s.Snapshot(ctx, key)
		if err != nil {
			return err
		}
		text, err := lumigl.Append(nil, snapshot)
		in = &Input{Name: workspace.EnvironmentPrefix + s.Environment.Name, Src: string(text)}
		return err
	})
	return in, err
}

// CompleteFiles completes env:NAME for each environment once "env" has been typed. Otherwise, the shell completes file
// names.
func CompleteFiles(c *cobra.Command, args []string, typed string) (names []string, _ cobra.ShellCompDirective) {
	if !strings.HasPrefix(typed, "env") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	all, _ := workspace.CompleteEnvironments(c, args, typed)
	for _, name := range all {
		names = append(names, "env:"+name)
	}
	return names, cobra.ShellCompDirectiveDefault
}
