package breaking_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// changer randomly changes a model.
type changer struct {
	*rand.Rand
	pkg  *schema.Package
	done []string
}

// change makes one to three random changes. If harmless is set, none of them may break anything.
func (c *changer) change(harmless bool) {
	changes := map[string]func() bool{
		"add an optional property": func() bool { return c.addProperty(&schema.Property{Optional: true, Pointer: true, Secret: true}) },
		"add an out property":      func() bool { return c.addProperty(&schema.Property{Out: true, Optional: true, Pointer: true}) },
		"add declarations":         c.addDecls,
		"reorder":                  c.reorder,
		"document":                 c.document,
	}
	if !harmless {
		maps.Copy(changes, map[string]func() bool{
			"add a property":   func() bool { return c.addProperty(&schema.Property{}) },
			"remove":           c.remove,
			"variants":         c.variants,
			"another name":     c.formerly,
			"options":          c.options,
			"types":            c.types,
			"optional":         c.optional,
			"constants":        c.constants,
			"rename a field":   c.rename,
			"another constant": c.anotherConst,
			"another file":     c.move,
			"default":          c.fallback,
			"add a default": func() bool {
				return c.addProperty(&schema.Property{Optional: true, Pointer: true, Default: "zz"})
			},
		})
	}
	names := slices.Sorted(maps.Keys(changes))
	if _, ok := pick[*schema.Union](c); ok && !harmless {
		names = append(names, "variants", "variants", "variants", "types", "another name")
	}
	for range 1 + c.IntN(3) {
		name := names[c.IntN(len(names))]
		if changes[name]() {
			c.done = append(c.done, name)
		}
	}
	c.pkg.Link()
}

// pick returns a random declaration of type T, and false if there is none.
func pick[T schema.Decl](c *changer) (T, bool) {
	var all []T
	for d := range c.pkg.Decls() {
		if d, ok := d.(T); ok {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		var none T
		return none, false
	}
	return all[c.IntN(len(all))], true
}

// properties returns a random declaration and a pointer to its property list.
func (c *changer) properties() (schema.Decl, *[]*schema.Property) {
	for range 20 {
		d, ok := pick[schema.Decl](c)
		if !ok {
			break
		}
		switch d := d.(type) {
		case *schema.Resource:
			return d, &d.Properties
		case *schema.Struct:
			return d, &d.Properties
		case *schema.Config:
			return d, &d.Properties
		case *schema.Function:
			return d, &d.Properties
		}
	}
	return nil, nil
}

func (c *changer) property() (schema.Decl, *schema.Property) {
	d, list := c.properties()
	if list == nil || len(*list) == 0 {
		return nil, nil
	}
	p := (*list)[c.IntN(len(*list))]
	if r, ok := d.(*schema.Resource); ok && r.Named && p == (*list)[0] {
		return nil, nil // the name property
	}
	return d, p
}

func (c *changer) addProperty(p *schema.Property) bool {
	d, list := c.properties()
	if list == nil {
		return false
	}
	kind := d.Head().Kind
	if p.Out && kind != "resource" && kind != "function" {
		return false
	}
	p.Name = unused(*list, "zz")
	p.Field, p.Type = "Z"+p.Name[1:], schema.String
	*list = append(*list, p)
	return true
}

// unused returns a name, derived from name, that no property in list has or had.
func unused(list []*schema.Property, name string) string {
	for i := len(list); ; i++ {
		free := fmt.Sprint(name, i)
		if !slices.ContainsFunc(list, func(p *schema.Property) bool { return p.Name == free || slices.Contains(p.Was, free) }) {
			return free
		}
	}
}

func (c *changer) addDecls() bool {
	m := c.pkg.Modules[c.IntN(len(c.pkg.Modules))]
	e := &schema.Enum{Header: schema.Header{Name: "ZzEnum"}, Members: []*schema.Member{{Name: "ZzEnumA", Value: "a"}}}
	s := &schema.Struct{Header: schema.Header{Name: "ZzStruct"}, Properties: []*schema.Property{
		{Field: "A", Name: "a", Type: &schema.Ref{Decl: e}},
	}}
	r := &schema.Resource{Header: schema.Header{Name: "ZzResource"}, Token: c.pkg.Name + ":" + m.Token() + ":ZzResource",
		Properties: []*schema.Property{{Field: "A", Name: "a", Type: &schema.List{Elem: &schema.Ref{Decl: s}}}}}
	for _, f := range m.Files {
		if f.Name == "zz_file.go" {
			return false
		}
	}
	m.Files = append(m.Files, &schema.File{Module: m, Name: "zz_file.go", Decls: []schema.Decl{e, s, r}})
	c.pkg.Link()
	return true
}

func (c *changer) reorder() bool {
	for f := range c.pkg.Files() {
		c.Shuffle(len(f.Decls), func(i, j int) { f.Decls[i], f.Decls[j] = f.Decls[j], f.Decls[i] })
		for _, d := range f.Decls {
			list := schema.Properties(d)
			if d.Head().Kind == "union" {
				continue
			}
			if r, ok := d.(*schema.Resource); ok && r.Named {
				list = list[1:]
			}
			c.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			if e, ok := d.(*schema.Enum); ok {
				c.Shuffle(len(e.Members), func(i, j int) { e.Members[i], e.Members[j] = e.Members[j], e.Members[i] })
			}
		}
	}
	return true
}

// variants adds, removes, renames, or reorders variants of a union.
func (c *changer) variants() bool {
	u, ok := pick[*schema.Union](c)
	if !ok {
		return false
	}
	i := c.IntN(len(u.Variants))
	switch c.IntN(4) {
	case 0:
		var d schema.Decl
		if r, ok := pick[*schema.Resource](c); ok && u.Tokens() != nil && r.Exported() {
			d = r
		} else if s, ok := pick[*schema.Struct](c); ok && u.Tokens() == nil && s.File.Module == u.File.Module {
			d = s
		}
		if d == nil || slices.ContainsFunc(u.Variants, func(v *schema.Property) bool { return v.Type.(*schema.Ref).Decl == d }) {
			return false
		}
		v := *u.Variants[i]
		v.Name = unused(u.Variants, "zzVariant")
		v.Field, v.Type, v.Was = "Z"+v.Name[1:], &schema.Ref{Decl: d}, nil
		u.Variants = slices.Insert(u.Variants, i, &v)
	case 1:
		if len(u.Variants) == 2 {
			return false
		}
		u.Variants = slices.Delete(u.Variants, i, i+1)
	case 2:
		v := u.Variants[i]
		v.Field, v.Name = "Zz"+v.Field, "zz"+v.Name
	default:
		c.Shuffle(len(u.Variants), func(i, j int) { u.Variants[i], u.Variants[j] = u.Variants[j], u.Variants[i] })
	}
	relate(u)
	return true
}

// relate sets ExactlyOneOf for the variants of a union of structs.
func relate(u *schema.Union) {
	var names []string
	for _, v := range u.Variants {
		names = append(names, v.Name)
	}
	for _, v := range u.Variants {
		if u.Tokens() == nil {
			v.ExactlyOneOf = names
		}
	}
}

// formerly renames a resource, a property, or a variant, and records the old name.
func (c *changer) formerly() bool {
	if r, ok := pick[*schema.Resource](c); ok && r.Exported() && c.IntN(3) == 0 {
		r.Was = append([]string{r.Token}, r.Was...)
		r.Name, r.Token = "Zz"+r.Name, strings.TrimSuffix(r.Token, r.Name)+"Zz"+r.Name
		return true
	}
	_, p := c.property()
	u, ok := pick[*schema.Union](c)
	if ok = ok && u.Tokens() == nil && c.IntN(2) == 0; ok {
		p = u.Variants[c.IntN(len(u.Variants))]
	}
	if p == nil {
		return false
	}
	p.Was = append([]string{p.Name}, p.Was...)
	p.Name = "zz" + p.Name
	if ok {
		relate(u)
	}
	return true
}

func (c *changer) document() bool {
	d, ok := pick[schema.Decl](c)
	if ok {
		d.Head().Doc = "Documented anew."
	}
	return ok
}

func (c *changer) remove() bool {
	_, list := c.properties()
	if list == nil || len(*list) < 2 {
		return false
	}
	p := 1 + c.IntN(len(*list)-1)
	*list = slices.Delete(*list, p, p+1)
	return true
}

func (c *changer) options() bool {
	d, p := c.property()
	if p == nil {
		return false
	}
	_, resource := d.(*schema.Resource)
	option := []*bool{&p.Secret, &p.Replaces, &p.In, &p.Out, &p.Fixed, &p.Computed}[c.IntN(6)]
	if !resource && option != &p.Secret {
		return false
	}
	*option = !*option
	p.Fixed = p.Fixed && p.Out
	p.Computed = p.Computed && p.Optional && !p.Out && !p.In && p.Default == nil
	if p.Out {
		p.Replaces, p.In = false, false
	} else if p.Pointer && !p.Optional {
		p.Pointer = false
	}
	return true
}

func (c *changer) types() bool {
	d, p := c.property()
	if p == nil {
		return false
	}
	if u, ok := pick[*schema.Union](c); ok && u.File.Module == d.Head().File.Module && c.IntN(2) == 0 {
		variant := u.Variants[c.IntN(len(u.Variants))]
		p.Type, p.Pointer = &schema.Ref{Decl: u}, p.Optional
		if c.IntN(2) == 0 {
			p.Type, p.Pointer = variant.Type, p.Optional && u.Tokens() == nil
		}
		return true
	}
	p.Type = []schema.Type{
		schema.String, schema.Number, schema.Any, schema.AnyResource, &schema.List{Elem: p.Type},
		&schema.Map{Key: schema.String, Elem: schema.Any},
	}[c.IntN(6)]
	p.Pointer = p.Optional && needsPointer(p.Type)
	if e, ok := pick[*schema.Enum](c); ok && c.IntN(2) == 0 && e.Exported() {
		p.Type, p.Pointer = &schema.Ref{Decl: e}, p.Optional
	}
	return true
}

func needsPointer(t schema.Type) bool { return t == schema.String || t == schema.Number }

func (c *changer) optional() bool {
	_, p := c.property()
	if p == nil || p.Out {
		return false
	}
	p.Optional, p.Computed = !p.Optional, false
	p.Pointer = p.Optional && !isReference(p.Type)
	return true
}

// fallback changes, adds, or removes a default.
func (c *changer) fallback() bool {
	_, p := c.property()
	if p == nil || !p.Optional || p.Out || p.Computed {
		return false
	}
	p.Default = map[string]any{"strings": "zz", "numbers": 7.5, "booleans": true}[schema.ValuesOf(p.Type)]
	if c.IntN(3) == 0 {
		p.Default = nil
	}
	return true
}

// isReference reports whether properties of type t are always pointers.
func isReference(t schema.Type) bool {
	t = schema.Underlying(t)
	ref, ok := t.(*schema.Ref)
	return t == schema.Asset || t == schema.Archive || t == schema.AnyResource || t == schema.Any || ok && ref.Decl.Head().Kind == "resource"
}

func (c *changer) constants() bool {
	e, ok := pick[*schema.Enum](c)
	if !ok {
		return false
	}
	i := c.IntN(len(e.Members))
	switch c.IntN(4) {
	case 0:
		e.Members = append(e.Members, &schema.Member{Name: e.Name + "Zz", Value: "zz"})
	case 1:
		if len(e.Members) == 1 {
			return false
		}
		e.Members = slices.Delete(e.Members, i, i+1)
	case 2:
		e.Members[i].Name = "Zz" + e.Members[i].Name
	default:
		e.Members[i].Value += "zz"
	}
	return true
}

func (c *changer) rename() bool {
	_, p := c.property()
	if p != nil {
		p.Field = "Zz" + p.Field
	}
	return p != nil
}

func (c *changer) anotherConst() bool {
	k, ok := pick[*schema.Const](c)
	if ok {
		k.Value = []any{"zz", true, 77.5}[c.IntN(3)]
	}
	return ok
}

// move moves a declaration to another file of its module.
func (c *changer) move() bool {
	d, ok := pick[schema.Decl](c)
	if !ok {
		return false
	}
	h := d.Head()
	m := h.File.Module
	h.File.Decls = slices.DeleteFunc(h.File.Decls, func(other schema.Decl) bool { return other == d })
	m.Files = append(m.Files, &schema.File{Module: m, Name: fmt.Sprintf("zz_moved%d.go", len(m.Files)), Decls: []schema.Decl{d}})
	c.pkg.Link()
	return true
}
