package muranopl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lang/yaql"
)

// options are the options of all expressions.
var options = func() yaql.Options {
	o := yaql.DefaultOptions()
	o.TypeNames, o.ConvertTuplesToLists, o.ConvertInputData = true, false, false
	o.MemoryQuota = maxValue
	return o
}()

func compile(source string) (*yaql.Expression, error) {
	return yaql.Compile(source, yaql.WithOptions(options))
}

// compileValue compiles a tree and reports the errors in all its expressions.
func compileValue(n *Node, report func(*Error)) *value {
	if n == nil {
		return &value{}
	}
	v := &value{line: line{pos: n.Pos}, constant: n.Value}
	switch x := n.Value.(type) {
	case Expression:
		v.kind, v.source = isExpression, x.line()
		var err error
		if v.expr, err = compile(string(x)); err != nil {
			report(asError(err, n.Pos))
		}
	case []*Node:
		v.kind = isList
		for _, item := range x {
			v.items = append(v.items, compileValue(item, report))
		}
	case []Entry:
		v.kind = isDict
		for _, e := range x {
			v.entries = append(v.entries, valueEntry{compileValue(e.Key, report), compileValue(e.Value, report)})
		}
	}
	return v
}

func (v *value) eval(s *scope) (any, error) {
	switch v.kind {
	case isExpression:
		s.current = &v.line
		return s.eval(v.expr, v.pos)
	case isList:
		items := make([]any, len(v.items))
		for i, item := range v.items {
			var err error
			if items[i], err = item.eval(s); err != nil {
				return nil, err
			}
		}
		return yaql.NewList(items), nil
	case isDict:
		d := yaql.NewDict()
		for _, e := range v.entries {
			key, err := e.key.eval(s)
			if err != nil {
				return nil, err
			}
			x, err := e.value.eval(s)
			if err != nil {
				return nil, err
			}
			if err := d.Set(key, x); err != nil {
				return nil, s.at(err, e.key.pos)
			}
		}
		return d, nil
	}
	return v.constant, nil
}

// isConstant reports whether v contains no expressions.
func (v *value) isConstant() bool {
	return v.kind != isExpression && !slices.ContainsFunc(v.items, func(i *value) bool { return !i.isConstant() }) &&
		!slices.ContainsFunc(v.entries, func(e valueEntry) bool { return !e.key.isConstant() || !e.value.isConstant() })
}

// String returns the source of the value in YAQL notation.
func (v *value) String() string {
	var parts []string
	switch v.kind {
	case isExpression:
		if v.expr == nil { // it does not compile
			return string(v.constant.(Expression))
		}
		return v.expr.String()
	case isList:
		for _, item := range v.items {
			parts = append(parts, item.String())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case isDict:
		for _, e := range v.entries {
			parts = append(parts, e.key.String()+": "+e.value.String())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return show(v.constant)
}

// show formats a value for a message.
func show(v any) string {
	switch v := v.(type) {
	case string:
		if r := []rune(v); len(r) > 60 {
			v = string(r[:60]) + "…"
		}
		return fmt.Sprintf("'%s'", v)
	case *Object:
		return "object " + v.ID() + " of class " + v.class.Name
	case *yaql.List, *yaql.Dict, *yaql.Set, *yaql.Iterator:
		return kindOf(v)
	case yaql.Typed:
		return v.YAQLType()
	}
	text, err := yaql.AppendJSON(nil, v)
	if err != nil {
		return kindOf(v)
	}
	return string(text)
}

// kindOf returns the name of a value's type with an indefinite article.
func kindOf(v any) string {
	name := yaql.TypeName(v)
	if strings.ContainsRune("aeio", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}
