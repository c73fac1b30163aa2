package convert

import (
	"fmt"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Format is a source format.
type Format string

// Source formats. The zero Format means that the format is detected.
const (
	Pulumi   Format = "pulumi"
	OpenTofu Format = "opentofu"
)

// Options configures a conversion. Zero-valued fields use defaults.
type Options struct {
	// From is the source format. By default, it is detected from the content.
	From Format
	// Environment and Package override the names in the source. They are used in all URNs.
	Environment, Package string
	// ShortTypes shortens types such as aws:ec2/vpc:VPC to aws:ec2:VPC.
	ShortTypes bool
	// KeepValues keeps strings that equal the id or an output of a dependency. By default, they are replaced with
	// references.
	KeepValues bool
}

// Result is the result of a conversion.
type Result struct {
	From     Format
	Snapshot *lumigl.Snapshot
	// Losses lists the losses in the order of the source.
	Losses []Loss
	// Linked is the number of strings replaced with references.
	Linked int
}

// RefusedError reports a file that cannot be converted or an invalid option.
type RefusedError struct {
	// Problem describes the problem and how to fix it.
	Problem string
}

func (e *RefusedError) Error() string { return e.Problem }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// maxDepth limits the nesting of sources. It is lower than the limit for snapshots, since conversion adds levels.
const maxDepth = 900

// Convert converts a source to a snapshot. It returns a *[RefusedError] if the source cannot be converted, or a
// *[lumigl.InvalidError] if it is not valid JSON.
func Convert(src string, options Options) (*Result, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	root, err := lumigl.Parser{MaxDepth: maxDepth}.ParseValue(src)
	if err != nil {
		return nil, err
	}
	from := options.From
	if from == "" {
		if from, err = detect(root); err != nil {
			return nil, err
		}
	}
	size := len(src)/64 + 1 // of marks
	b := &book{root: root, opened: make(marks, size), settled: make(marks, size)}
	a := &assembly{
		options: options, snapshot: &lumigl.Snapshot{}, book: b, tool: from,
		live: map[string]*draft{}, deleted: map[string]*draft{}, renamed: map[string]bool{},
	}
	top := b.source(1)
	switch from {
	case Pulumi:
		err = (&pulumi{assembly: a}).read(top)
	case OpenTofu:
		err = (&openTofu{assembly: a}).read(top)
	default:
		err = refuse("unknown format %q", from)
	}
	if err != nil {
		return nil, err
	}
	b.settle()
	return &Result{From: from, Snapshot: a.snapshot, Losses: b.losses, Linked: a.linked}, nil
}

// Check validates the names in the options. Any error is of type *[RefusedError].
func (o Options) Check() error {
	if o.Environment != "" {
		probe := urn.Parts{Environment: o.Environment, Package: "p", Module: "m", Type: "p:m:T", Name: "n"}
		if _, err := urn.Format(probe); err != nil {
			return refuse("invalid environment name %q: it must not be empty or contain colons or spaces", o.Environment)
		}
	}
	if o.Package != "" {
		if err := tokens.CheckPackage(o.Package); err != nil {
			return refuse("invalid package name: %s", err)
		}
	}
	return nil
}
