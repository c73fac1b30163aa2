package lumi

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Inspector is implemented by an author's operations that have something to say about changes, beyond what the IDL does.
type Inspector[P Object] interface {
	// InspectChange may call [Diff.Replace] for changes that need a new resource, [Diff.Ignore] for those that make no
	// difference, and [Diff.DeleteBeforeReplace]. It is called also if diff is empty.
	InspectChange(ctx context.Context, old, want *State[P], diff *Diff) error
}

// Finder is implemented by an author's operations that can find what a Create made whose outcome is uncertain.
type Finder[P Object] interface {
	// Find returns the id of the resource that a Create with the same URN, token and properties made, or [ErrNotFound] if
	// there is none. Anything else that fails, such as a search that is not answered, must not become ErrNotFound: the
	// engine would create a second resource.
	Find(ctx context.Context, want *State[P]) (ID, error)
}

// IdempotentCreator is implemented by an author's operations to say whether a Create that is called again with the same
// token returns what the first call made.
type IdempotentCreator interface {
	// IdempotentCreate is called once, when the provider is constructed.
	IdempotentCreate() bool
}

// Upgrader is implemented by an author's operations for a type whose IDL has changed in ways that decoding cannot bridge,
// such as a property with another name.
type Upgrader[P Object] interface {
	// Upgrade sets in old.Properties what can be learned from stored, the properties as an older version of the provider
	// stored them. It is called before any other operation is, if stored does not fit the IDL: if a property in it is gone
	// or of another kind, or a required one is missing. What fits is decoded already. If there are secrets in stored, all
	// that Upgrade changes counts as secret.
	//
	// A property with [Codec.Was] may be in stored under any of its names, since engines store it under the one that it has
	// now, even if its value is of another kind.
	//
	// Any property may be missing in stored: Check's has no out properties, and required ones are also missing after a
	// Create that failed half way and after an import. They stay so, unless Upgrade sets them; to set one to its zero value
	// it calls [State.Done], too. So a value must be asked for with v, ok := stored.Get("name").(string).
	Upgrade(ctx context.Context, old *State[P], stored Bag) error
}

// abilities has the optional operations of an author's implementation. Those that it lacks are the zero Value.
type abilities struct {
	inspect, find, upgrade reflect.Value
	createAgain            bool
}

// abilitiesOf finds the optional operations by reflection, since the generic interfaces would be compiled, and described
// in the binary, once for each type of resource. Empty is a state of the type that the operations take.
func abilitiesOf(token tokens.Type, ops, empty any) *abilities {
	checkOptional(token, ops, optionalMethods(reflect.TypeOf(empty)))
	have := reflect.ValueOf(ops)
	creator, _ := ops.(IdempotentCreator)
	return &abilities{
		inspect: have.MethodByName("InspectChange"), find: have.MethodByName("Find"), upgrade: have.MethodByName("Upgrade"),
		createAgain: creator != nil && creator.IdempotentCreate(),
	}
}

// optionalMethods lists the methods of the optional interfaces for one type of states.
func optionalMethods(state reflect.Type) []reflect.Method {
	methods := []reflect.Method{
		reflect.TypeFor[Inspector[Object]]().Method(0), reflect.TypeFor[Finder[Object]]().Method(0),
		reflect.TypeFor[IdempotentCreator]().Method(0), reflect.TypeFor[Upgrader[Object]]().Method(0),
	}
	for i, m := range methods {
		in := slices.Collect(m.Type.Ins())
		for j := range in {
			if in[j] == reflect.TypeFor[*State[Object]]() {
				in[j] = state
			}
		}
		methods[i].Type = reflect.FuncOf(in, slices.Collect(m.Type.Outs()), false)
	}
	return methods
}

// invoke calls an optional operation and returns its error, and the id in front of that if there is one.
func invoke(operation reflect.Value, args ...any) (id ID, err error) {
	in := make([]reflect.Value, len(args))
	for i, arg := range args {
		in[i] = reflect.ValueOf(arg)
	}
	out := operation.Call(in)
	if len(out) == 2 {
		id = ID(out[0].String())
	}
	err, _ = out[len(out)-1].Interface().(error)
	return id, err
}

// checkOptional panics if ops has a method of one of the optional interfaces that would never be called: one with another
// signature, one with a pointer receiver where ops is a value, or one whose name is nearly right.
func checkOptional(token tokens.Type, ops any, optional []reflect.Method) {
	have := reflect.TypeOf(ops)
	var names []string
	for _, want := range optional {
		names = append(names, want.Name)
		method, ok := have.MethodByName(want.Name)
		if !ok {
			if _, ok := reflect.PointerTo(have).MethodByName(want.Name); ok {
				panic(fmt.Sprintf("lumi: the operations of %s have an optional method %s with a pointer receiver: pass a pointer, "+
					"not a value", token, want.Name))
			}
			continue
		}
		if is := reflect.ValueOf(ops).Method(method.Index).Type(); is != want.Type {
			panic(fmt.Sprintf("lumi: the operations of %s have an optional method with the wrong signature:\n"+
				"\thave %s%s\n\twant %[2]s%[4]s", token, want.Name, signature(is), signature(want.Type)))
		}
	}
	for i := range have.NumMethod() {
		name := have.Method(i).Name
		at := slices.Index(names, suggest.Name(name, names))
		if at < 0 {
			continue
		}
		if _, ok := have.MethodByName(names[at]); !ok && reflect.ValueOf(ops).Method(i).Type() == optional[at].Type {
			panic(fmt.Sprintf("lumi: the operations of %s have a method %s, which is never called; did you mean %s?",
				token, name, names[at]))
		}
	}
}

// signature shows the type of a function without the paths of packages.
func signature(t reflect.Type) string {
	return packagePath.ReplaceAllString(strings.TrimPrefix(t.String(), "func"), "")
}

var packagePath = regexp.MustCompile(`[^][*(), ]*/`)
