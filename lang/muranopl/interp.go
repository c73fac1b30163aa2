package muranopl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// Limits of a run.
const (
	DefaultMaxSteps = 100_000_000
	maxDepth        = 200
	maxValue        = 8 << 20   // bytes per value
	maxHeld         = 256 << 20 // bytes of all variables, properties, and branches
	maxBranches     = 10_000    // concurrent branches of Parallel
	branchSize      = 16 << 10  // bytes counted for a branch itself
)

// New returns an interpreter for the classes in r and the core classes of io.murano.
func New(r Resolver, o Options) *Interpreter {
	if o.MaxSteps <= 0 {
		o.MaxSteps = DefaultMaxSteps
	}
	if o.Sleep == nil {
		o.Sleep = sleepByClock
	}
	in := &Interpreter{
		resolver: Resolvers{r, core}, options: o, classes: map[string]*Class{}, objects: map[string]*Object{}, ids: map[string]int{}, taken: map[string]bool{},
		run: context.Background(),
	}
	root := yaql.New(yaql.Standard(false))
	root.Register(engine...)
	in.workflows = yaql.New(root)
	in.workflows.Register(o.Functions...)
	in.contracts = yaql.New(root)
	in.contracts.Register(contractFunctions...)
	return in
}

func sleepByClock(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Gone is an object that was removed from the model, with its id and the id of its owner.
type Gone struct {
	Model     *Node
	ID, Owner string
}

// Load creates the objects of a model and returns the root object. It also creates the objects in gone, so that
// [Interpreter.Destroy] can call their methods; [Interpreter.Save] omits them. Any error is of type [*Error].
func (in *Interpreter) Load(ctx context.Context, model *Node, gone ...Gone) (*Object, error) {
	in.run, in.nodes = ctx, map[*yaql.Dict]*Node{}
	defer func() { in.nodes = nil }()
	d, ok := model.value(in.nodes).(*yaql.Dict)
	if !ok {
		return nil, failAt(model.Pos, Syntax, "an object model must be a dictionary")
	}
	o, err := in.loadModel(in.host(), d, nil, true, gone...)
	if err != nil {
		return nil, in.host().at(err, model.Pos)
	}
	return o, nil
}

// hold updates the memory in use when the value of a variable or a property changes from old to v. It returns an error
// if a limit is exceeded.
func (in *Interpreter) hold(old, v any) error {
	size := yaql.SizeOf(v)
	if size > maxValue {
		return fail(yaql.Limit, "value of more than %d bytes", maxValue)
	}
	if in.held += size - yaql.SizeOf(old); in.held > maxHeld {
		return fail(yaql.Limit, "variables and properties hold more than %d bytes", maxHeld)
	}
	return nil
}

// host returns the scope for calls from Go.
func (in *Interpreter) host() *scope {
	s := &scope{in: in, vars: yaql.New(in.workflows)}
	s.ctx = s.vars
	s.ctx.Set(scopeVariable, s)
	return s
}

// Object returns the object with the given id, or nil if there is none.
func (in *Interpreter) Object(id string) *Object { return in.objects[id] }

// Call calls a method of o. Arguments are values of package yaql; dictionaries may be models of objects. Any error is
// of type [*Error].
func (in *Interpreter) Call(ctx context.Context, o *Object, method string, args ...any) (any, error) {
	in.run = ctx
	s := in.host()
	m, err := o.class.method(method)
	if err == nil && m == nil {
		err = fail(yaql.UnknownFunction, "class %s has no method %s", o.class.Name, method)
	}
	if err != nil {
		return nil, s.at(err, Position{})
	}
	v, err := in.invoke(s, m, o, args, nil)
	if err != nil {
		return nil, s.at(err, Position{})
	}
	return v, nil
}

// newID returns an unused id. To keep ids stable when unrelated parts of the model change, it is derived from the
// owner, the place within the owner, and the number of objects created there before.
func (in *Interpreter) newID(owner *Object, place string) string {
	if owner != nil {
		place = owner.ID() + " " + place
	}
	for {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", in.ids[place], place))
		in.ids[place]++
		if id := hex.EncodeToString(sum[:16]); !in.taken[id] {
			in.taken[id] = true
			return id
		}
	}
}
