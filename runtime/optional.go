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

// Inspector is implemented by operations that adjust diffs beyond the IDL's declarations.
type Inspector[P Object] interface {
	// InspectChange may call [Diff.Replace] for changes that require a replacement, [Diff.Ignore] for irrelevant
	// changes, and [Diff.DeleteBeforeReplace]. It is called even if diff is empty.
	InspectChange(ctx context.Context, old, want *State[P], diff *Diff) error
}

// Finder is implemented by operations that can find the resource of a Create whose outcome is uncertain.
type Finder[P Object] interface {
	// Find returns the id of the resource created with the same URN, token, and properties, or [ErrNotFound] if there
	// is none. Other failures, such as a timeout of the search, must not be reported as ErrNotFound, or the engine
	// creates a second resource.
	Find(ctx context.Context, want *State[P]) (ID, error)
}

// IdempotentCreator is implemented by operations to declare whether a repeated Create with the same token returns the
// result of the first.
type IdempotentCreator interface {
	// IdempotentCreate is called once, when the provider is constructed.
	IdempotentCreate() bool
}

// Upgrader is implemented for types whose IDL changed in ways that decoding cannot handle, such as a property split in
// two.
type Upgrader[P Object] interface {
	// Upgrade sets the properties in old.Properties that can be derived from stored, the properties as stored by an
	// older version of the provider. It is called before any other operation if stored does not fit the IDL: if it has
	// a property that was removed or is of another kind, or lacks a required one. Properties that fit are already
	// decoded. If stored contains a secret, all properties that Upgrade changes become secret.
	//
	// A property with [Codec.Was] may have any of its names in stored, since engines store it under its current name
	// even if its value is of another kind.
	//
	// Any property may be missing in stored: Check's result has no out properties, and required ones are also missing
	// after a partially failed Create and after an import. They stay missing unless Upgrade sets them; to set one to
	// its zero value, it must also call [State.Done]. So read values with v, ok := stored.Get("name").(string).
	Upgrade(ctx context.Context, old *State[P], stored Bag) error
}

// abilities holds the optional operations of an author's implementation. Missing ones are the zero Value.
type abilities struct {
	inspect, find, upgrade reflect.Value
	createAgain            bool
}

// abilitiesOf finds the optional operations by reflection, since generic interfaces would add code and type descriptors
// to the binary for each resource type. empty is a state of the type that the operations take.
func abilitiesOf(token tokens.Type, ops, empty any) *abilities {
	checkOptional(token, ops, optionalMethods(reflect.TypeOf(empty)))
	have := reflect.ValueOf(ops)
	creator, _ := ops.(IdempotentCreator)
	return &abilities{
		inspect: have.MethodByName("InspectChange"), find: have.MethodByName("Find"), upgrade: have.MethodByName("Upgrade"),
		createAgain: creator != nil && creator.IdempotentCreate(),
	}
}

// optionalMethods returns the methods of the optional interfaces for one state type.
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

// invoke calls an optional operation and returns its error, and its id if it returns one.
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

// checkOptional panics if ops has an optional method that would never be called: one with the wrong signature, with a
// pointer receiver while ops is a value, or with a misspelled name.
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

// signature formats a function type without package paths.
func signature(t reflect.Type) string {
	return packagePath.ReplaceAllString(strings.TrimPrefix(t.String(), "func"), "")
}

var packagePath = regexp.MustCompile(`[^][*(), ]*/`)
