package schema

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"iter"
	"path"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Read parses and links a model in the format of [Write]. Modules and files may be in any order. Read returns the error
// of r, or an error that locates the first problem in the JSON: invalid syntax, an unsupported version, an unknown or
// missing member or kind, duplicate names, an invalid reference, or an invalid constraint, default, or relation.
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
	if err := checkVersion(data); err != nil {
		return nil, err
	}
	var form packageJSON
	if err := strict(data, &form); err != nil {
		return nil, located(data, err)
	}
	b := &builder{decls: make(map[declKey]Decl)}
	return b.build(&form)
}

// checkVersion checks the version by itself, since other versions may have different members.
func checkVersion(data []byte) error {
	var version *int
	if err := members(data, map[string]any{"version": &version}); err != nil && err != io.EOF { //nolint:errorlint // It is not wrapped.
		return located(data, err)
	}
	switch {
	case version == nil:
		return errors.New(`missing "version": not a schema written by cidlc`)
	case *version != Version:
		return fmt.Errorf("unsupported version %d, expected %d", *version, Version)
	}
	return nil
}

// declKey identifies a declaration in references: by module and name, or a resource by the name of another package and
// its token.
type declKey struct{ foreign, module, name string }

// builder converts the JSON form to the model. Types remain [typeJSON] values until all declarations are known.
type builder struct {
	decls map[declKey]Decl
	keys  []keyUse
}

// keyUse is a map key type, which is checked once aliases have their targets.
type keyUse struct {
	where string
	key   Type
}

func (b *builder) build(form *packageJSON) (*Package, error) {
	p, err := b.modules(&form.foreignJSON)
	if err != nil {
		return nil, err
	}
	for _, other := range form.Packages {
		foreign, err := b.foreign(&other)
		if err != nil {
			return nil, fmt.Errorf("package %q: %w", other.Name, err)
		}
		p.Packages = append(p.Packages, foreign)
	}
	if again := sortUnique(p.Packages, func(p *Package) string { return p.Name }); again != nil {
		return nil, fmt.Errorf("duplicate package %q", *again)
	}
	p.attach()
	for where, t := range p.types() {
		var err error
		form, _ := (*t).(*typeJSON)
		if *t, err = b.typ(where, form); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
	}
	if err := p.checkAliases(); err != nil {
		return nil, err
	}
	if err := cmp.Or(p.checkUnions(), p.checkValues()); err != nil {
		return nil, err
	}
	for _, use := range b.keys {
		if !isKey(Underlying(use.key)) {
			return nil, fmt.Errorf("%s: a map key must be a string, an enum, or an alias of string", use.where)
		}
	}
	p.Link()
	return p, nil
}

// modules returns a package with its modules.
func (b *builder) modules(form *foreignJSON) (*Package, error) {
	p := form.Package
	if p.Name == "" {
		return nil, errors.New("missing package name")
	}
	for _, module := range form.Modules {
		m, err := b.module(&module)
		if err != nil {
			return nil, err
		}
		p.Modules = append(p.Modules, m)
	}
	if again := sortUnique(p.Modules, func(m *Module) string { return m.Path }); again != nil {
		return nil, fmt.Errorf("duplicate module %q", *again)
	}
	return &p, nil
}

// foreign returns another package that the model refers to.
func (b *builder) foreign(form *foreignJSON) (*Package, error) {
	p, err := (&builder{decls: map[declKey]Decl{}}).modules(form)
	if err != nil {
		return nil, err
	}
	if p.NPM == "" {
		return nil, errors.New("missing npm")
	}
	for d := range p.Decls() {
		r, ok := d.(*Resource)
		if !ok || len(r.Properties) > 0 {
			return nil, fmt.Errorf("%s: expected a resource without properties", d.Head().Name)
		}
		key := declKey{foreign: p.Name, name: r.Token}
		if b.decls[key] != nil {
			return nil, fmt.Errorf("duplicate token %q", r.Token)
		}
		b.decls[key] = r
	}
	return p, nil
}

// sortUnique sorts list by key in place. It returns a pointer to a duplicate key, or nil if there is none.
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
	m := form.Module
	if m.Path != "" && (!fs.ValidPath(m.Path) || m.Path == ".") {
		return nil, fmt.Errorf("module %q: the path must be relative and clean", m.Path)
	}
	if !token.IsIdentifier(m.GoName) {
		return nil, fmt.Errorf("module %q: goName %q is not an identifier", m.Path, m.GoName)
	}
	for _, file := range form.Files {
		f, err := b.file(m.Path, &file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(m.Path, file.Name), err)
		}
		m.Files = append(m.Files, f)
	}
	if again := sortUnique(m.Files, func(f *File) string { return f.Name }); again != nil {
		return nil, fmt.Errorf("module %q: duplicate file %q", m.Path, *again)
	}
	return &m, nil
}

func (b *builder) file(module string, form *fileJSON) (*File, error) {
	f := form.File
	if f.Name == "" || path.Base(f.Name) != f.Name {
		return nil, fmt.Errorf("%q is not a file name", f.Name)
	}
	for i, raw := range form.Decls {
		var kind, name string
		if err := members(raw, map[string]any{"kind": &kind, "name": &name}); err != nil {
			return nil, fmt.Errorf("declaration %d: %w", i+1, plain(err))
		}
		if !token.IsIdentifier(name) {
			return nil, fmt.Errorf("declaration %d: name %q is not an identifier", i+1, name)
		}
		d, err := readDecl(kind, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		key := declKey{module: module, name: name}
		if b.decls[key] != nil {
			return nil, fmt.Errorf("%s: declared twice in the module", name)
		}
		b.decls[key] = d
		f.Decls = append(f.Decls, d)
	}
	return &f, nil
}

// readDecl decodes a declaration of the given kind. It performs all checks that do not involve other declarations.
func readDecl(kind string, raw jsontext.Value) (Decl, error) {
	var value jsontext.Value
	kinds := []Decl{&Resource{}, &Struct{}, &Config{}, &Union{}, &Function{}, &Enum{}, &Alias{}, &Const{Value: &value}}
	i := slices.IndexFunc(kinds, func(d Decl) bool { return kindOf(d) == kind })
	if i < 0 {
		return nil, fmt.Errorf("unknown declaration kind %q", kind)
	}
	if err := strict(raw, kinds[i]); err != nil {
		return nil, plain(err)
	}
	switch d := kinds[i].(type) {
	case *Resource:
		if d.Token == "" {
			return nil, errors.New("missing resource token")
		}
		if d.Named && (len(d.Properties) == 0 || d.Properties[0] == nil || d.Properties[0].Name != "name") {
			return nil, errors.New("the first property of a named resource must be its name")
		}
		if d.NameScope != "" && (!d.Named || !slices.ContainsFunc(d.Properties[1:], func(p *Property) bool {
			return p != nil && p.Name == d.NameScope && !p.Out
		})) {
			return nil, fmt.Errorf("nameScope: no settable property %q of a named resource", d.NameScope)
		}
	case *Function:
		if d.Token == "" {
			return nil, errors.New("missing function token")
		}
		if !slices.ContainsFunc(d.Properties, func(p *Property) bool { return p != nil && p.Out }) {
			return nil, errors.New("a function without results")
		}
	case *Enum:
		for _, m := range d.Members {
			if m = cmp.Or(m, &Member{}); !token.IsIdentifier(m.Name) {
				return nil, fmt.Errorf("member name %q is not an identifier", m.Name)
			}
		}
	case *Const:
		return d, d.setValue(value)
	}
	for _, r := range Rules(kinds[i]) {
		if r == nil || r.Message == "" {
			return nil, errors.New("a rule without a message")
		}
	}
	return kinds[i], checkProperties(Properties(kinds[i]))
}

func checkProperties(list []*Property) error {
	names := make(map[string]bool, len(list))
	for _, p := range list {
		switch p = cmp.Or(p, &Property{}); {
		case p.Name == "":
			return fmt.Errorf("field %q: missing property name", p.Field)
		case !token.IsIdentifier(p.Field):
			return fmt.Errorf("property %s: field %q is not an identifier", p.Name, p.Field)
		case names[p.Name]:
			return fmt.Errorf("duplicate property %q", p.Name)
		case p.Fixed && !p.Out:
			return fmt.Errorf("property %s: a fixed property must be out", p.Name)
		case p.Computed && (!p.Optional || p.Out || p.In || p.Default != nil):
			return fmt.Errorf("property %s: a computed property must be optional, without out, in, or a default", p.Name)
		}
		switch p.Default.(type) {
		case nil, bool, float64, string:
		default:
			return fmt.Errorf("property %s: the default is not a boolean, a number or a string", p.Name)
		}
		names[p.Name] = true
	}
	for _, p := range list {
		for _, name := range slices.Concat(p.ConflictsWith, p.RequiredWith, p.ExactlyOneOf) {
			if !names[name] {
				return fmt.Errorf("property %s: unknown related property %q", p.Name, name)
			}
		}
	}
	return nil
}

// setValue decodes raw into Value, using the Go type that corresponds to c.Type.
func (c *Const) setValue(raw jsontext.Value) error {
	zero := constants[c.Type]
	if zero == nil {
		return fmt.Errorf("unknown constant type %q", c.Type)
	}
	if raw == nil || raw.Kind() == 'n' {
		return errors.New("missing value")
	}
	value := reflect.New(reflect.TypeOf(zero))
	if err := json.Unmarshal(raw, value.Interface()); err != nil {
		return fmt.Errorf("value: %w", plain(err))
	}
	c.Value = value.Elem().Interface()
	return nil
}

// isType makes typeJSON a [Type], used as a placeholder while a model is being read.
func (*typeJSON) isType() {}

func (b *builder) typ(where string, form *typeJSON) (Type, error) {
	if form == nil || *form == (typeJSON{}) {
		return nil, errors.New("missing type")
	}
	isList, isMap, isRef := form.Kind == "list", form.Kind == "map", form.Kind == "ref"
	switch {
	case form.Key != nil && !isMap:
		return nil, fmt.Errorf(`type of kind %q cannot have "key"`, form.Kind)
	case form.Elem != nil && !isMap && !isList:
		return nil, fmt.Errorf(`type of kind %q cannot have "elem"`, form.Kind)
	case (form.Module != nil || form.Name != "") && !isRef:
		return nil, fmt.Errorf(`type of kind %q cannot have "module" or "name"`, form.Kind)
	case (form.Package != "" || form.Token != "") && !isRef:
		return nil, fmt.Errorf(`type of kind %q cannot have "package" or "token"`, form.Kind)
	case isRef:
		return b.ref(form)
	case isList:
		elem, err := b.typ(where, form.Elem)
		return &List{Elem: elem}, err
	case isMap:
		key, err := b.typ(where, form.Key)
		if err != nil {
			return nil, err
		}
		b.keys = append(b.keys, keyUse{where, key})
		elem, err := b.typ(where, form.Elem)
		return &Map{Key: key, Elem: elem}, err
	}
	switch p := Primitive(form.Kind); p {
	case Bool, Number, Int, String, Any, Asset, Archive, AnyResource:
		return p, nil
	}
	return nil, fmt.Errorf("unknown type kind %q", form.Kind)
}

func (b *builder) ref(form *typeJSON) (Type, error) {
	if form.Package != "" {
		d := b.decls[declKey{foreign: form.Package, name: form.Token}]
		if d == nil {
			return nil, fmt.Errorf("package %q has no resource %q", form.Package, form.Token)
		}
		return &Ref{Decl: d}, nil
	}
	if form.Module == nil {
		return nil, fmt.Errorf("reference to %q: missing module", form.Name)
	}
	key := declKey{module: *form.Module, name: form.Name}
	d := b.decls[key]
	switch d.(type) {
	case nil:
		return nil, fmt.Errorf("module %q does not declare %q", key.module, key.name)
	case *Config, *Function, *Const:
		return nil, fmt.Errorf("%q in module %q cannot be a property type", key.name, key.module)
	}
	return &Ref{Decl: d}, nil
}

// types yields a pointer to every type in the package, with the location of the type for error messages.
func (p *Package) types() iter.Seq2[string, *Type] {
	return func(yield func(string, *Type) bool) {
		for d := range p.Decls() {
			where := d.Head().File.Path() + ": " + d.Head().Name
			if a, ok := d.(*Alias); ok && !yield(where, &a.Target) {
				return
			}
			for _, property := range Properties(d) {
				if !yield(where+"."+property.Name, &property.Type) {
					return
				}
			}
		}
	}
}
