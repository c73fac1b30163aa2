package lumi

import (
	"context"

	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Function serves one function of a package: code that looks something up, such as the latest image with a given name, and
// changes nothing. [NewFunction] implements it. Like those of a [ResourceProvider], its requests are read-only, and its
// methods return the same errors; ErrNotFound means that what the function looks for does not exist.
type Function interface {
	// Describe returns a description of the arguments and results.
	Describe(context.Context) (*Description, error)
	// Call validates the arguments and returns the results. It may be repeated.
	Call(context.Context, *CallRequest) (*CallResponse, error)
}

// CallRequest is the request of Call.
type CallRequest struct {
	// Arguments holds the arguments set by the program. All values are known.
	Arguments  Bag
	References References
}

// CallResponse is the response to a [CallRequest].
type CallResponse struct {
	// Results holds the [Out] properties that have a value, including all required ones.
	Results Bag
}

// function is a [Function] that calls the author's code.
type function struct {
	token      tokens.Type
	alloc      func() Object
	properties func() []Property
	run        func(ctx context.Context, call Object, refs References) error
}

// NewFunction returns a function that calls the author's code. empty returns a new object with no properties set. run
// receives an object with the arguments and sets the results in it. Secrets are in plain text, as in [State]. refs holds the
// resources that the arguments refer to. The meaning of errors is that of [Ops]. NewFunction panics if run is nil.
func NewFunction[P Object](
	token tokens.Type, empty func() P, run func(ctx context.Context, call P, refs References) error,
) Function {
	if run == nil {
		panic("lumi: no code for function " + string(token))
	}
	alloc, properties := allocator(empty)
	return &function{token, alloc, properties, func(ctx context.Context, call Object, refs References) error {
		return run(ctx, call.(P), refs)
	}}
}

// Token returns the function's token.
func (f *function) Token() tokens.Type { return f.token }

// Describe implements [Function].
func (f *function) Describe(context.Context) (*Description, error) {
	return &Description{Type: f.token, Function: true, Properties: f.properties()}, nil
}

// Validate checks the arguments against the IDL. See [Provider.Validate].
func (f *function) Validate(ctx context.Context, arguments Bag, found ...Fault) error {
	_, err := decodeBag(ctx, arguments.Object(), f.alloc(), decoding{unknown: true, priorFaults: found})
	return err
}

// Call implements [Function].
func (f *function) Call(ctx context.Context, req *CallRequest) (*CallResponse, error) {
	call := f.alloc()
	marks, err := decodeBag(ctx, req.Arguments.Object(), call, decoding{warn: func(w Fault) {
		Log(ctx).Warn(string(f.token) + ": " + w.Error()) // events of calls have no URN
	}})
	if err != nil {
		return nil, err
	}
	succeeded := false
	defer func() {
		if !succeeded {
			noteResult(ctx, call, marks)
		}
	}()
	if err := f.run(ctx, call, req.References); err != nil {
		return nil, Invalid(err)
	}
	p := newProps(ctx, encoding, nil)
	p.only, p.complete = Out, true
	results, err := p.encodeBag(call)
	if err != nil {
		return nil, err
	}
	succeeded = true
	return &CallResponse{Results: BagFrom(results)}, nil
}
