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

// Inspector is an optional interface of [Ops] for adjusting the diff that the runtime computes from the IDL.
type Inspector[P Object] interface {
	// InspectChange calls [Diff.Replace] for changes that require a replacement, [Diff.Ignore] for irrelevant changes,
	// and [Diff.DeleteBeforeReplace] if necessary. It is called even if diff is empty.
	InspectChange(ctx context.Context, old, want *State[P], diff *Diff) error
}

// Finder is an optional interface of [Ops] for looking up a resource after a Create with an uncertain outcome.
type Finder[P Object] interface {
	// Find returns the id of the resource created with the same URN, token, and properties, or [ErrNotFound] if there
	// is none. It must not return ErrNotFound for other failures, such as a timeout of the search, or the engine creates
	// a second resource.
	Find(ctx context.Context, want *State[P]) (ID, error)
}

// IdempotentCreator is an optional interface of [Ops] for declaring that Create is idempotent.
type IdempotentCreator interface {
	// IdempotentCreate reports whether a repeated Create with the same token returns the result of the first, even if both
	// run at once, or if the first begins after the repetition has ended. It is called once, when the provider is
	// constructed.
	IdempotentCreate() bool
}

// RepeatableChanger is an optional interface of [Ops] for declaring that Update and Delete may be repeated at any time.
type RepeatableChanger interface {
	// RepeatableChange reports whether a repeated Update or Delete with the same token has no further effect, even if both
	// run at once, or if the first begins after later calls for the resource have ended. If one attempt must wait for the
	// other, it returns a [RetryError]. RepeatableChange is called once, when the provider is constructed.
	RepeatableChange() bool
}

// Upgrader is an optional interface of [Ops] for types whose IDL changed in ways that decoding cannot handle, such as
// splitting a property in two.
type Upgrader[P Object] interface {
	// Upgrade sets properties in old.Properties from stored, the properties as written by an older version of the
	// provider. It is called before any other operation if stored does not fit the IDL: if a property was removed, has a
	// value of the wrong kind, or is required but missing. Properties that fit are already decoded. If stored contains a
	// secret, all properties that Upgrade changes become secret. The URN and ID in old are empty if only the properties are
	// converted, as by serve.Local.
	//
	// A renamed property (see [Was]) may have any of its names in stored, since engines store it under its current
	// name even if its value is of another kind.
	//
	// Any property may be missing from stored: out properties are missing from Check's result, and required properties
	// after a partially failed Create or an import. So read values with v, ok := stored.Get("name").(string). Missing
	// properties stay missing unless Upgrade sets them. To set one to its zero value, also call [State.Done].
	Upgrade(ctx context.Context, old *State[P], stored Bag) error
}

// abilities holds the optional operations of an author's implementation. An unimplemented operation is the zero Value.
type abilities struct {
	inspect, find, upgrade   reflect.Value
	createAgain, changeAgain bool
}

// abilitiesOf returns the optional operations of ops. It panics if checkOptional does. It uses reflection, since generic
// interfaces would add code and type descriptors to the binary for each resource type. empty is a nil *State of that
// type.
func abilitiesOf(token tokens.Type, ops, empty any) *abilities {
	checkOptional(token, ops, optionalMethods(reflect.TypeOf(empty)))
	have := reflect.ValueOf(ops)
	creator, _ := ops.(IdempotentCreator)
	changer, _ := ops.(RepeatableChanger)
	return &abilities{
		inspect: have.MethodByName("InspectChange"), find: have.MethodByName("Find"), upgrade: have.MethodByName("Upgrade"),
		createAgain: creator != nil && creator.IdempotentCreate(), changeAgain: changer != nil && changer.RepeatableChange(),
	}
}

// optionalMethods returns the methods of the optional interfaces, with state in place of *State[Object].
func optionalMethods(state reflect.Type) []reflect.Method {
	methods := []reflect.Method{
		reflect.TypeFor[Inspector[Object]]().Method(0), reflect.TypeFor[Finder[Object]]().Method(0),
		reflect.TypeFor[IdempotentCreator]().Method(0), reflect.TypeFor[RepeatableChanger]().Method(0),
		reflect.TypeFor[Upgrader[Object]]().Method(0),
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

// invoke calls an optional operation. id is empty if the operation returns only an error.
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

// checkOptional panics if ops has an optional method that would never be called because it has the wrong signature, a
// misspelled name, or a pointer receiver although ops is not a pointer.
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
