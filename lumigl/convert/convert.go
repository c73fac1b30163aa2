package convert

import (
	"fmt"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Format is a source format.
type Format string

// Source formats. The zero Format is detected from the content.
const (
	Pulumi   Format = "pulumi"
	OpenTofu Format = "opentofu"
)

// Options configures a conversion. Zero-valued fields use defaults.
type Options struct {
	// From is the source format. By default, it is detected.
	From Format
	// Environment and Package replace the names from the source in all URNs.
	Environment, Package string
	// ShortTypes shortens types such as aws:ec2/vpc:VPC to aws:ec2:VPC.
	ShortTypes bool
	// KeepValues keeps strings equal to the id or an output of a dependency. By default, they become references.
	KeepValues bool
}

// Result is the result of a conversion.
type Result struct {
	From     Format
	Snapshot *lumigl.Snapshot
	// Text is the snapshot's canonical text.
	Text []byte
	// Losses lists the losses in source order.
	Losses []Loss
	// Linked is the number of strings that became references.
	Linked int
}

// RefusedError reports that a file or an option cannot be converted.
type RefusedError struct {
	// Problem describes the problem and the remedy.
	Problem string
}

func (e *RefusedError) Error() string { return e.Problem }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// maxDepth limits the nesting of sources. It is lower than the limit for snapshots, since conversion wraps values.
const maxDepth = 900

// Convert converts a source to a snapshot. The error is a *[RefusedError], or a *[lumigl.InvalidError] for invalid
// JSON.
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
	// This releases the assembly and the book, which are no longer needed.
	result := &Result{From: from, Snapshot: a.snapshot, Losses: b.losses, Linked: a.linked}
	if result.Text, err = lumigl.Append(make([]byte, 0, len(src)+len(src)/4), result.Snapshot); err != nil {
		return nil, fmt.Errorf("invalid snapshot: %w", err)
	}
	return result, nil
}

// Check validates the names in the options. The error is a *[RefusedError].
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
