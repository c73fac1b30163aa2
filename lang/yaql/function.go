package yaql

import (
	"fmt"
	"slices"
	"strings"
)

// Func returns a function that is called as name(args). Its parameters are declared by a list of names and types such
// as
//
//	"collection iterable, separator string?, count int=-1, *args any, default any=null, **others any"
//
// A parameter accepts null if its type ends with ?, if its default is null, or if its type is any without a !. The
// default after = is a literal or unset, which [Call.Has] detects. *args collects further positional arguments.
// Parameters after it are keyword-only. **others collects further keyword arguments.
//
// Func panics if the declaration is invalid.
func Func(name, params string, call func(*Call) (any, error)) *Function {
	f := &Function{Name: name, Plain: true, call: call}
	if err := f.declare(params); err != nil {
		panic(fmt.Sprintf("yaql: %s(%s): %v", name, params, err))
	}
	return f
}

// Method is like [Func] but returns a function that is called as receiver.name(args). The receiver is the first
// parameter.
func Method(name, params string, call func(*Call) (any, error)) *Function {
	f := Func(name, params, call)
	f.Method, f.Plain = true, false
	if len(f.Params) == 0 && f.Rest == nil || len(f.Params) > 0 && f.Params[0].typ.lazy() {
		panic(fmt.Sprintf("yaql: method %s(%s) needs a first parameter that is evaluated", name, params))
	}
	return f
}

// Extension is like [Method] but returns a function that can be called as name(args) or as receiver.name(args).
func Extension(name, params string, call func(*Call) (any, error)) *Function {
	f := Method(name, params, call)
	f.Plain = true
	return f
}

// WithoutKeywords sets f.NoKeywords and returns f.
func (f *Function) WithoutKeywords() *Function {
	f.NoKeywords = true
	return f
}

// Document sets the description, adds examples given as alternating expressions and results, and returns f.
func (f *Function) Document(doc string, examples ...string) *Function {
	f.Doc = doc
	for i := 0; i+1 < len(examples); i += 2 {
		f.Examples = append(f.Examples, Example{examples[i], examples[i+1]})
	}
	if f.swapped != nil {
		f.swapped.Document(doc, examples...)
	}
	return f
}

// eitherWay adds an overload in which the first two parameters are swapped, and returns f.
func (f *Function) eitherWay() *Function {
	other := *f
	other.Params = slices.Clone(f.Params)
	other.Params[0], other.Params[1] = f.Params[1], f.Params[0]
	other.call = func(c *Call) (any, error) {
		c.fn = f
		c.args[0], c.args[1] = c.args[1], c.args[0]
		return f.call(c)
	}
	f.swapped = &other
	return f
}

func (f *Function) declare(params string) error {
	keywordOnly := false
	for decl := range strings.SplitSeq(params, ",") {
		decl = strings.TrimSpace(decl)
		if decl == "" {
			continue
		}
		p, stars, err := parseParam(decl)
		switch {
		case err != nil:
			return err
		case stars == 2:
			f.Others = &p
		case stars == 1:
			f.Rest, keywordOnly = &p, true
		case keywordOnly:
			f.Keyword = append(f.Keyword, p)
		default:
			f.Params = append(f.Params, p)
		}
	}
	return nil
}

func parseParam(decl string) (p Param, stars int, err error) {
	decl, literal, hasDefault := strings.Cut(decl, "=")
	for ; strings.HasPrefix(decl, "*"); decl = decl[1:] {
		stars++
	}
	name, typ, ok := strings.Cut(strings.TrimSpace(decl), " ")
	if !ok {
		return p, 0, fmt.Errorf("parameter %q has no type", decl)
	}
	typ = strings.TrimSpace(typ)
	p = Param{Name: name, optional: hasDefault}
	p.typ = types[strings.TrimRight(typ, "?!")]
	if p.typ == nil {
		return p, 0, fmt.Errorf("unknown type %q", typ)
	}
	switch {
	case strings.HasSuffix(typ, "?"), p.typ.passing == asLambda, p.typ.accept == clNull:
		p.nullable = true
	case strings.HasSuffix(typ, "!"):
	default:
		p.nullable = p.typ.accept&clEvery == clEvery || literal == "null"
	}
	if hasDefault {
		p.value, err = parseDefault(strings.TrimSpace(literal))
	}
	return p, stars, err
}

func parseDefault(s string) (any, error) {
	if s == "unset" {
		return unset{}, nil
	}
	v, err := FromJSON([]byte(strings.ReplaceAll(s, "'", `"`)))
	if err != nil {
		return nil, fmt.Errorf("invalid default %q", s)
	}
	return v, nil
}

// Lazy reports whether the function evaluates some of its arguments itself, possibly with other variables.
func (f *Function) Lazy() bool {
	return slices.ContainsFunc(slices.Concat(f.Params, f.Keyword), func(p Param) bool { return p.typ.lazy() }) ||
		f.Rest != nil && f.Rest.typ.lazy() || f.Others != nil && f.Others.typ.lazy()
}

// param returns the ith parameter, counting first Params and then Keyword.
func (f *Function) param(i int) *Param {
	if i < len(f.Params) {
		return &f.Params[i]
	}
	return &f.Keyword[i-len(f.Params)]
}

func (f *Function) fixed() int { return len(f.Params) + len(f.Keyword) }

// value adapts a function that cannot fail.
func value(f func(*Call) any) func(*Call) (any, error) {
	return func(c *Call) (any, error) { return f(c), nil }
}
