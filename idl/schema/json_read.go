package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"path"
	"slices"
)

// Read reads what [Write] wrote, or another program in its form, and links it. The error returned is the reader's, or
// says what is wrong with the JSON and where: its syntax, a version that this package does not know, a member or a kind
// that does not exist, one that is missing, two declarations of one name, or a reference to what is declared nowhere or
// may not be referred to. Modules and files may come in any order.
func Read(r io.Reader) (*Package, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	p, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return p, nil
}

func parse(data []byte) (*Package, error) {
	// The version is looked at first: what another version means is not for this one to judge.
	var version struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, located(data, err)
	}
	switch {
	case version.Version == nil:
		return nil, errors.New(`no "version": this is not a schema that cidlc wrote`)
	case *version.Version != Version:
		return nil, fmt.Errorf("version %d is not known, only %d is", *version.Version, Version)
	}
	var form packageJSON
	if err := strict(data, &form); err != nil {
		return nil, located(data, err)
	}
	b := &builder{decls: make(map[declKey]Decl)}
	return b.build(&form)
}

// strict decodes one JSON value and refuses members that the target has no field for.
func strict(data []byte, target any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(target)
}

// located adds the line and column to errors of package json that know their offset.
func located(data []byte, err error) error {
	var offset int64
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &mismatch):
		offset = mismatch.Offset
	default:
		return err
	}
	before := data[:min(max(offset-1, 0), int64(len(data)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// declKey is what references know a declaration by.
type declKey struct{ module, name string }

// builder turns the JSON form into the model. Types are resolved in a second pass, when all declarations are known.
type builder struct {
	decls   map[declKey]Decl
	pending []func() error
}

func (b *builder) build(form *packageJSON) (*Package, error) {
	p := &Package{Name: form.Name}
	if p.Name == "" {
		return nil, errors.New("the package has no name")
	}
	for _, module := range form.Modules {
		m, err := b.module(&module)
		if err != nil {
			return nil, err
		}
		p.Modules = append(p.Modules, m)
	}
	if again := sortUnique(p.Modules, func(m *Module) string { return m.Path }); again != nil {
		return nil, fmt.Errorf("there are two modules %q", *again)
	}
	for _, resolve := range b.pending {
		if err := resolve(); err != nil {
			return nil, err
		}
	}
	if err := checkTypes(p); err != nil {
		return nil, err
	}
	p.Link()
	return p, nil
}

// sortUnique sorts a list by a key, and returns a key that two of its elements have.
func sortUnique[T any](list []T, key func(T) string) (again *string) {
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	for i := 1; i < len(list); i++ {
		if k := key(list[i]); k == key(list[i-1]) {
			return &k
		}
	}
	return nil
}

func (b *builder) module(form *moduleJSON) (*Module, error) {
	m := &Module{Path: form.Path, GoName: form.GoName}
	if m.Path != "" && (!fs.ValidPath(m.Path) || m.Path == ".") {
		return nil, fmt.Errorf("module %q: the path is not relative and clean", m.Path)
	}
	if !token.IsIdentifier(m.GoName) {
		return nil, fmt.Errorf("module %q: goName %q is no identifier", m.Path, m.GoName)
	}
	for _, file := range form.Files {
		f, err := b.file(m, &file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(m.Path, file.Name), err)
		}
		m.Files = append(m.Files, f)
	}
	if again := sortUnique(m.Files, func(f *File) string { return f.Name }); again != nil {
		return nil, fmt.Errorf("module %q: there are two files %q", m.Path, *again)
	}
	return m, nil
}

func (b *builder) file(m *Module, form *fileJSON) (*File, error) {
	if form.Name == "" || path.Base(form.Name) != form.Name {
		return nil, fmt.Errorf("%q is no file name", form.Name)
	}
	f := &File{Module: m, Name: form.Name, Doc: form.Doc}
	for i, raw := range form.Decls {
		var head struct{ Kind, Name string }
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, fmt.Errorf("declaration %d: %w", i+1, err)
		}
		if !token.IsIdentifier(head.Name) {
			return nil, fmt.Errorf("declaration %d: name %q is no identifier", i+1, head.Name)
		}
		where := path.Join(m.Path, f.Name) + ": " + head.Name
		d, err := b.decl(where, head.Kind, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", head.Name, err)
		}
		key := declKey{m.Path, head.Name}
		if b.decls[key] != nil {
			return nil, fmt.Errorf("%s: the module declares it twice", head.Name)
		}
		b.decls[key] = d
		f.Decls = append(f.Decls, d)
	}
	return f, nil
}

func (b *builder) decl(where, kind string, raw json.RawMessage) (Decl, error) {
	switch kind {
	case "resource":
		var form resourceJSON
		if err := strict(raw, &form); err != nil {
			return nil, err
		}
		if form.Token == "" {
			return nil, errors.New("the resource has no token")
		}
		properties, err := b.properties(where, form.Properties)
		if err == nil && form.Named && (len(properties) == 0 || properties[0].Name != "name") {
			err = errors.New("the first property of a named resource must be its name")
		}
		return &Resource{Header: form.header(), Token: form.Token, Named: form.Named, Properties: properties}, err
	case "struct", "config":
		var form structJSON
		if err := strict(raw, &form); err != nil {
			return nil, err
		}
		properties, err := b.properties(where, form.Properties)
		if kind == "config" {
			return &Config{Header: form.header(), Properties: properties}, err
		}
		return &Struct{Header: form.header(), Properties: properties}, err
	case "enum":
		var form enumJSON
		if err := strict(raw, &form); err != nil {
			return nil, err
		}
		e := &Enum{Header: form.header()}
		for _, m := range form.Members {
			if !token.IsIdentifier(m.Name) {
				return nil, fmt.Errorf("member name %q is no identifier", m.Name)
			}
			e.Members = append(e.Members, &Member{m.Name, m.Value, m.Doc, Position(m.Pos)})
		}
		return e, nil
	case "alias":
		var form aliasJSON
		if err := strict(raw, &form); err != nil {
			return nil, err
		}
		a := &Alias{Header: form.header()}
		b.resolve(where, form.Target, &a.Target)
		return a, nil
	case "const":
		var form constJSON
		if err := strict(raw, &form); err != nil {
			return nil, err
		}
		value, err := constValue(form.Type, form.Value)
		return &Const{Header: form.header(), Value: value}, err
	}
	return nil, fmt.Errorf("no declaration is of kind %q", kind)
}

func (h *headJSON) header() Header { return Header{Name: h.Name, Doc: h.Doc, Pos: Position(h.Pos)} }

func (b *builder) properties(where string, forms []propertyJSON) ([]*Property, error) {
	var list []*Property
	names := make(map[string]bool, len(forms))
	for _, form := range forms {
		if form.Name == "" {
			return nil, fmt.Errorf("the property of field %q has no name", form.Field)
		}
		if !token.IsIdentifier(form.Field) {
			return nil, fmt.Errorf("property %s: field %q is no identifier", form.Name, form.Field)
		}
		if names[form.Name] {
			return nil, fmt.Errorf("there are two properties %q", form.Name)
		}
		names[form.Name] = true
		p := &Property{
			Field: form.Field, Name: form.Name,
			Pointer: form.Pointer, Optional: form.Optional,
			Out: form.Out, In: form.In, Replaces: form.Replaces, Secret: form.Secret,
			Doc: form.Doc, Pos: Position(form.Pos),
		}
		b.resolve(where+"."+form.Name, form.Type, &p.Type)
		list = append(list, p)
	}
	return list, nil
}

// constValue reads a constant's value as the Go type that it had.
func constValue(typ string, raw json.RawMessage) (any, error) {
	var value any
	var err error
	switch typ {
	case "bool":
		value, err = decode[bool](raw)
	case "string":
		value, err = decode[string](raw)
	case "int64":
		value, err = decode[int64](raw)
	case "uint64":
		value, err = decode[uint64](raw)
	case "float64":
		value, err = decode[float64](raw)
	default:
		return nil, fmt.Errorf("no constant is of type %q", typ)
	}
	if err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	return value, nil
}

func decode[T any](raw json.RawMessage) (T, error) {
	var v *T
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return *new(T), cmp.Or(err, errors.New("it is missing"))
	}
	return *v, nil
}

// resolve has a type built once all declarations are known.
func (b *builder) resolve(where string, form *typeJSON, target *Type) {
	b.pending = append(b.pending, func() error {
		t, err := b.typ(form)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		*target = t
		return nil
	})
}

func (b *builder) typ(form *typeJSON) (Type, error) {
	if form == nil {
		return nil, errors.New("a type is missing")
	}
	isList, isMap, isRef := form.Kind == "list", form.Kind == "map", form.Kind == "ref"
	switch {
	case form.Key != nil && !isMap:
		return nil, fmt.Errorf(`a type of kind %q has no "key"`, form.Kind)
	case form.Elem != nil && !isMap && !isList:
		return nil, fmt.Errorf(`a type of kind %q has no "elem"`, form.Kind)
	case (form.Module != nil || form.Name != "") && !isRef:
		return nil, fmt.Errorf(`a type of kind %q has no "module" and no "name"`, form.Kind)
	case isRef:
		return b.ref(form)
	case isList:
		elem, err := b.typ(form.Elem)
		return &List{Elem: elem}, err
	case isMap:
		key, err := b.typ(form.Key)
		if err != nil {
			return nil, err
		}
		elem, err := b.typ(form.Elem)
		return &Map{Key: key, Elem: elem}, err
	}
	switch p := Primitive(form.Kind); p {
	case Bool, Number, String, Any, Asset, Archive, AnyResource:
		return p, nil
	}
	return nil, fmt.Errorf("no type is of kind %q", form.Kind)
}

func (b *builder) ref(form *typeJSON) (Type, error) {
	if form.Module == nil {
		return nil, fmt.Errorf("the reference to %q names no module", form.Name)
	}
	key := declKey{*form.Module, form.Name}
	d := b.decls[key]
	switch d.(type) {
	case nil:
		return nil, fmt.Errorf("module %q declares no %q", key.module, key.name)
	case *Config, *Const:
		return nil, fmt.Errorf("%q in module %q is no type that a property can have", key.name, key.module)
	}
	return &Ref{Decl: d}, nil
}

// checkTypes holds what can be judged only when every alias has its target: no alias stands for itself, since
// [Underlying] would never come to an end, and the keys of maps are strings.
func checkTypes(p *Package) error {
	err := eachType(p, func(where string, t Type) error {
		seen := make(map[Decl]bool)
		for ref, ok := t.(*Ref); ok && !seen[ref.Decl]; {
			seen[ref.Decl] = true
			alias, isAlias := ref.Decl.(*Alias)
			if !isAlias {
				return nil
			}
			ref, ok = alias.Target.(*Ref)
			if ok && seen[ref.Decl] {
				return fmt.Errorf("%s: alias %s stands for itself", where, alias.Name)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return eachType(p, func(where string, t Type) error {
		m, ok := t.(*Map)
		if !ok {
			return nil
		}
		key := Underlying(m.Key)
		if ref, ok := key.(*Ref); ok {
			if _, ok := ref.Decl.(*Enum); ok {
				return nil
			}
		}
		if key != String {
			return fmt.Errorf("%s: the key of a map must be a string, an enum or an alias of a string", where)
		}
		return nil
	})
}

// eachType calls visit for every type in the model, and for the keys and elements inside it, up to the first error.
func eachType(p *Package, visit func(where string, t Type) error) error {
	var first error
	walk := func(where string, t Type) {
		Walk(t, func(t Type) {
			if first == nil {
				first = visit(where, t)
			}
		})
	}
	for _, m := range p.Modules {
		for _, f := range m.Files {
			for _, d := range f.Decls {
				where := path.Join(m.Path, f.Name) + ": " + d.Head().Name
				if a, ok := d.(*Alias); ok {
					walk(where, a.Target)
				}
				for _, property := range Properties(d) {
					walk(where+"."+property.Name, property.Type)
				}
			}
		}
	}
	return first
}
