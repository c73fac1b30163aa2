package provision

import (
	"context"
	"errors"
	"slices"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// request is a request to a provider, along with the data needed to decode the response.
type request struct {
	lumi.ResourceProvider
	version     string
	description *lumi.Description

	properties, old lumi.Bag
	references      lumi.References
	targets         targets
	configuration   lumigl.Value
}

func (c *Caller) call(ctx context.Context, d plan.Desired, old lumigl.Value, send func(context.Context, *request) error) error {
	r := &request{properties: bagOf(orEmpty(d.Properties)), old: bagOf(old), targets: targetsOf(d.Properties, old)}
	if len(d.References) > 0 {
		r.references = make(lumi.References, len(d.References))
	}
	for u, known := range d.References {
		r.references[u] = lumi.Reference{ID: lumi.ID(known.ID), Properties: bagOf(known.Properties)}
	}
	return c.send(ctx, d.URN.Type(), r, send)
}

// send sets the provider and the type's description in r, and then calls send with r.
func (c *Caller) send(ctx context.Context, t tokens.Type, r *request, send func(context.Context, *request) error) error {
	if c.Configuration != nil {
		r.configuration = c.Configuration(t.Package())
	}
	var err error
	ctx = wire.WithSecrets(ctx, r.secrets()) // masks secrets in the plugin's log
	if r.ResourceProvider, r.version, err = c.Providers.Provider(ctx, t, r.configuration); err != nil {
		return r.failed(err)
	}
	known, found := c.descriptions.Load(t)
	if !found {
		d, err := r.Describe(ctx)
		if err != nil {
			return r.failed(err)
		}
		known, _ = c.descriptions.LoadOrStore(t, d)
	}
	r.description = known.(*lumi.Description)
	if err := send(wire.WithSecrets(ctx, r.secrets()), r); err != nil {
		return r.failed(err)
	}
	return nil
}

// names returns the names of the properties that have a flag.
func (r *request) names(flag lumi.Flags) (names []string) {
	if r.description == nil {
		return nil
	}
	for _, p := range r.description.Properties {
		if p.Flags&flag != 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

// read converts the properties returned by a provider and separates inputs from outputs. Outputs and properties
// declared as strings contain no references.
func (r *request) read(bag lumi.Bag) (inputs, outputs lumigl.Value) {
	var in, out lumigl.ObjectBuilder
	computed := r.names(lumi.Out)
	for _, f := range bag.Object().Fields() {
		t, into := r.targets, &in
		if slices.Contains(computed, f.Name) {
			t.vertices, into = nil, &out
		}
		if slices.ContainsFunc(r.description.Properties, func(p lumi.Property) bool {
			return p.Name == f.Name && p.Kind == lumi.KindString
		}) {
			t = targets{}
		}
		if !f.Value.IsNull() {
			into.Set(f.Name, t.value(&f.Value))
		}
	}
	return in.Object(), out.Object()
}

// readComputed converts the properties returned by Create or Update: outputs, and computed properties that the request lacks.
func (r *request) readComputed(bag lumi.Bag) lumigl.Value {
	_, outputs := r.read(bag)
	for _, name := range r.names(lumi.Computed) {
		if v := bag.Object().Get(name); !v.IsNull() && r.properties.Object().Get(name).IsNull() {
			outputs = outputs.With(name, targets{}.value(v))
		}
	}
	return outputs
}

// failed converts the error of a call to the error returned by a [Caller] method.
func (r *request) failed(err error) error {
	secrets := r.secrets()
	partial, ok := lumi.Meaning(err).(*lumi.PartialError) //nolint:errorlint // Meaning returns unwrapped errors.
	if !ok {
		return mask(err, secrets)
	}
	failed := &PartialError{ID: string(partial.ID), Err: errors.New("partially completed")}
	if failed.Inputs, failed.Outputs = r.read(partial.Properties); partial.Err != nil {
		failed.Err = mask(partial.Err, secrets)
	}
	return failed
}

// secrets returns the secrets in the request and the configuration, whether marked or declared as secret.
func (r *request) secrets() *wire.Secrets {
	secrets := wire.NewSecrets(nil)
	ctx := wire.WithSecrets(context.Background(), secrets)
	lumi.NoteSecrets(ctx, bagOf(r.configuration))
	for _, reference := range r.references {
		lumi.NoteSecrets(ctx, reference.Properties)
	}
	for _, bag := range []lumi.Bag{r.properties, r.old} {
		lumi.NoteSecrets(ctx, bag)
		for _, name := range r.names(lumi.Secret) {
			declared := lumi.SecretOf(bag.Object().Get(name).OrAbsent())
			lumi.NoteSecrets(ctx, lumi.BagFrom(&declared))
		}
	}
	return secrets
}

// Mask returns err with the secrets of objects masked in its message.
func Mask(err error, objects ...lumigl.Value) error {
	return mask(err, wire.SecretsOf(WithSecrets(context.Background(), objects...)))
}

// WithSecrets returns a context for a call that masks the secrets of objects in the plugin's log.
func WithSecrets(ctx context.Context, objects ...lumigl.Value) context.Context {
	ctx = wire.WithSecrets(ctx, wire.NewSecrets(nil))
	for _, object := range objects {
		lumi.NoteSecrets(ctx, bagOf(object))
	}
	return ctx
}

// mask returns an error with secrets masked in its message and its faults.
func mask(err error, secrets *wire.Secrets) error {
	if invalid, ok := err.(*lumi.InvalidError); ok { //nolint:errorlint // Errors that wrap one have their own text.
		faults := slices.Clone(invalid.Faults)
		for i, f := range faults {
			faults[i] = lumi.Fault{Path: lumi.Path(secrets.Path(string(f.Path))), Message: wire.Mask(f.Message, secrets)}
		}
		return &lumi.InvalidError{Faults: faults}
	}
	if text := wire.Mask(err.Error(), secrets); text != err.Error() {
		return &masked{text, err}
	}
	return err
}

// masked is an error with a masked message.
type masked struct {
	text string
	err  error
}

func (e *masked) Error() string { return e.text }

func (e *masked) Unwrap() error { return e.err }
