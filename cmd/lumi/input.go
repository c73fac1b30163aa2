package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
)

// stdinArg is the argument that stands for standard input, and stdinName how it is called in messages.
const (
	stdinArg  = "-"
	stdinName = "<stdin>"
)

// input is the text of a file.
type input struct {
	name string // as it was given, stdinName for standard input
	src  string
}

// document is a file without faults.
type document struct {
	input
	lumigl.Document
}

// Inputs returns the files that the arguments name, or standard input if there are none.
func Inputs(con *console.Console) ([]string, error) {
	if len(con.Args) == 0 {
		if con.StdinIsTerminal {
			return nil, console.Misused("give a file, or - for standard input")
		}
		return []string{stdinArg}, nil
	}
	return con.Args, once(con.Args)
}

// each does something with every file, even after an error, which it prints. It returns the worst of errWrong and
// errFailed.
func each(con *console.Console, files []string, do func(name string) error) error {
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

// once holds that standard input is read by one argument only.
func once(args []string) error {
	if i := slices.Index(args, stdinArg); i >= 0 && slices.Contains(args[i+1:], stdinArg) {
		return errors.New("- stands there twice, but standard input can be read only once")
	}
	return nil
}

// ReadFile reads a file, or standard input.
func ReadFile(con *console.Console, arg string) (*input, error) {
	if arg == stdinArg {
		in, err := readAll(stdinName, &announced{con.Stdin, con}, sizeOf(con.Stdin))
		if err == nil && !strings.HasSuffix(strings.TrimRight(in.src, " \t\r\n"), "}") {
			// It was cut off, perhaps since one interrupt ended the program that wrote it and is about to end this one.
			time.Sleep(20 * time.Millisecond)
		}
		return in, err
	}
	if name, ok := strings.CutPrefix(arg, workspace.EnvironmentPrefix); ok {
		return nil, fmt.Errorf("%s is the state of an environment, not a file: 'lumi state export --environment=%s -o FILE' writes one", arg, name)
	}
	file, err := os.Open(arg)
	if err != nil {
		return nil, fileError(arg, err)
	}
	defer file.Close()
	con.Doing("reading %s", arg)
	return readAll(arg, file, sizeOf(file))
}

// announced says that standard input is read once there is something to read. Until then another program may be asking
// for a password on the same terminal, and whoever writes into it needs no line in between at all.
type announced struct {
	io.Reader
	to *console.Console
}

func (a *announced) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 && a.to != nil && !a.to.StdinIsTerminal {
		a.to.Doing("reading %s", stdinName)
		a.to = nil
	}
	return n, err
}

// sizeOf is how much there is to read, as far as that is known.
func sizeOf(r io.Reader) int {
	if file, ok := r.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return int(min(info.Size(), lumigl.DefaultMaxSize)) + 1
		}
	}
	return 0
}

func readAll(name string, r io.Reader, size int) (*input, error) {
	var b strings.Builder
	b.Grow(size)
	if _, err := io.Copy(&b, io.LimitReader(r, lumigl.DefaultMaxSize+1)); err != nil {
		return nil, fileError(name, err)
	}
	return &input{name: name, src: b.String()}, nil
}

// fileError says what is wrong with a file, without the system's words for what was tried.
func fileError(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// load reads a file of either form, or the snapshot of an environment. What is wrong with it is printed, and leads to errWrong.
func load(con *console.Console, arg string) (*document, error) {
	in, err := Read(con, arg)
	if err != nil {
		return nil, err
	}
	doc, err := lumigl.Parse(in.src)
	if err != nil {
		return nil, refuse(con, in, err)
	}
	return &document{input: *in, Document: doc}, nil
}

// refuse prints what is wrong with a file, or, to people, that it is another tool's. It returns errWrong, or the error
// itself if that is not about faults.
func refuse(con *console.Console, in *input, err error) error {
	var invalid *lumigl.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	if what := foreign(in, invalid); what != "" && !con.JSON {
		con.Separate()
		con.Say("%s looks like %s; 'lumi convert' makes a snapshot of such a file", in.name, what)
		return console.ErrWrong
	}
	return cmp.Or(printFaults(con, in, invalid, secretsIn(in.src)), console.ErrWrong)
}

// foreign says what a file is that another tool has made, or "".
func foreign(in *input, invalid *lumigl.InvalidError) string {
	if !slices.ContainsFunc(invalid.Faults, func(f lumigl.Fault) bool {
		return f.Code == lumigl.FormFault || f.Code == lumigl.ShapeFault
	}) {
		return ""
	}
	switch convert.Recognize(in.src) {
	case convert.OpenTofu:
		return "state of OpenTofu or Terraform"
	case convert.Pulumi:
		return "an export of Pulumi"
	}
	return ""
}
