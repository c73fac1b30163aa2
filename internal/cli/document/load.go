package document

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
)

// File is a file that contains a valid document.
type File struct {
	Input
	lumigl.Document
}

// Load reads a graph or snapshot from a file or an environment. If the file has errors, it prints them and returns
// [console.ErrWrong].
func Load(con *console.Console, arg string) (*File, error) {
	in, err := Read(con, arg)
	if err != nil {
		return nil, err
	}
	doc, err := lumigl.Parse(in.Src)
	if err != nil {
		return nil, Refuse(con, in, err)
	}
	return &File{Input: *in, Document: doc}, nil
}

// Refuse prints the errors in a file. If another tool wrote the file, it prints a note instead, unless --json is set.
// It returns [console.ErrWrong], or err unchanged if err is not a [*lumigl.InvalidError].
func Refuse(con *console.Console, in *Input, err error) error {
	var invalid *lumigl.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	if what := foreign(in, invalid); what != "" && !con.JSON {
		con.Separate()
		con.Say("%s looks like %s; 'lumi convert' converts it to a snapshot", in.Name, what)
		return console.ErrWrong
	}
	return cmp.Or(PrintFaults(con, in, invalid, SecretsIn(in.Src)), console.ErrWrong)
}

// foreign describes a file written by another tool. It returns "" for other files.
func foreign(in *Input, invalid *lumigl.InvalidError) string {
	if !slices.ContainsFunc(invalid.Faults, func(f lumigl.Fault) bool {
		return f.Code == lumigl.FormFault || f.Code == lumigl.ShapeFault
	}) {
		return ""
	}
	switch convert.Recognize(in.Src) {
	case convert.OpenTofu:
		return "OpenTofu or Terraform state"
	case convert.Pulumi:
		return "a Pulumi export"
	}
	return ""
}
