package convert

import (
	"fmt"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Format is what a source can be.
type Format string

// The formats. The zero Format is whatever the content says.
const (
	Pulumi   Format = "pulumi"
	OpenTofu Format = "opentofu"
)

// Options say how to convert. The zero Options do what is most likely wanted.
type Options struct {
	// From is the format, if the content is not to be asked.
	From Format
	// Environment and Package stand in all URNs, in place of what the source says.
	Environment, Package string
	// ShortTypes turns aws:ec2/vpc:VPC into aws:ec2:VPC.
	ShortTypes bool
	// KeepValues leaves strings alone which are the id or the value of something that their resource depends on. If it is
	// false, they become references.
	KeepValues bool
}

// Result is what became of a source.
type Result struct {
	From     Format
	Snapshot *lumigl.Snapshot
	// Text is the snapshot in canonical form.
	Text []byte
	// Losses are in the order of the source.
	Losses []Loss
	// Linked is how many strings became references.
	Linked int
}

// RefusedError says that a file cannot be converted at all.
type RefusedError struct {
	// Problem is what the matter is, and what to do.
	Problem string
}

// Error returns the problem.
func (e *RefusedError) Error() string { return e.Problem }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// maxDepth is how deep sources may be nested. A snapshot may be deeper, so that there is room for what is put around
// values.
const maxDepth = 900

// Convert makes a snapshot of a source. The error is a *[RefusedError], or a *[lumigl.InvalidError] for what is not JSON
// or cannot be named as the options want it.
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
	// From here on, the assembly and the book can be collected. The text of a state is somewhat longer than the state.
	result := &Result{From: from, Snapshot: a.snapshot, Losses: b.losses, Linked: a.linked}
	if result.Text, err = lumigl.Append(make([]byte, 0, len(src)+len(src)/4), result.Snapshot); err != nil {
		return nil, fmt.Errorf("invalid snapshot: %w", err)
	}
	return result, nil
}

// Check says what is wrong with the names in the options, in a *[RefusedError].
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
