package tfserve

import (
	"errors"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// kind is how the values of a [shape] differ between Lumi and OpenTofu.
type kind int

const (
	scalar    kind = iota // the same in both
	anything              // any JSON value; a dynamic value
	list                  // a list
	mapping               // a map
	object                // a struct, union of structs, asset, or archive; an object
	reference             // the URN of a resource of one type; its id
	anyType               // the URN of a resource of several types; an object of type and id
	jsonText              // a struct inside itself; the JSON of its object
)

// shape is a type as Lumi and OpenTofu see it. It is immutable once built.
type shape struct {
	kind kind
	// typ is the type in OpenTofu. Collections that it cannot describe, such as lists of lists of objects, are dynamic. Their
	// elements then are, too, whatever their own shapes.
	typ tftypes.Type
	// elem is the shape of elements of a list or mapping, and of the object of a jsonText.
	elem *shape
	// attributes belong to an object, without the id of a resource, or to an anyType, and byName finds them by their names in OpenTofu.
	attributes []*attribute
	byName     map[string]*attribute
	// choice is set for unions, assets, and archives, whose attributes exclude each other, and signature for assets and archives.
	choice    bool
	signature string
	// token is the type of the resource that a reference refers to. References have the names of resource types, too.
	token tokens.Type
	names *names
	// dynamic is set if values may differ in type, secret if they are or may contain a secret property, and hidden if they are one.
	dynamic, secret, hidden bool
}

// attribute is a property of an object.
type attribute struct {
	*shape
	// name is the name in OpenTofu, and wire the one in bags, or "" for an id.
	name, wire string
	property   *schema.Property // nil for an id
}

var (
	anyShape    = &shape{kind: anything, typ: tftypes.DynamicPseudoType, dynamic: true}
	stringShape = &shape{typ: tftypes.String}
	primitives  = map[schema.Primitive]*shape{
		schema.Bool: {typ: tftypes.Bool}, schema.Number: {typ: tftypes.Number}, schema.Int: {typ: tftypes.Number},
		schema.String: stringShape, schema.Any: anyShape, schema.Asset: assetShape,
		schema.Archive: contentShape(wire.Archive, "assets", "The files of the archive by their names.", collection(mapping, assetShape)),
	}
	assetShape = contentShape(wire.Asset, "text", "The content as text.", stringShape)
)

// contentShape returns the shape of assets or archives, which differ in one attribute.
func contentShape(signature, own, ownDoc string, ownShape *shape) *shape {
	s := &shape{kind: object, choice: true, signature: signature}
	s.add(stringShape, &schema.Property{Name: "path", Optional: true, Doc: "The path of a file or, for an archive, a folder or an archive file."})
	s.add(ownShape, &schema.Property{Name: own, Optional: true, Doc: ownDoc})
	s.add(stringShape, &schema.Property{Name: "uri", Optional: true, Doc: "The URI of the content."})
	s.add(stringShape, &schema.Property{Name: hashName, Optional: true, Out: true, Doc: "The hash of the content at `path`."})
	s.index()
	return s
}

// add adds an attribute that is not a property in the IDL.
func (s *shape) add(of *shape, p *schema.Property) {
	s.attributes = append(s.attributes, &attribute{shape: of, name: p.Name, wire: p.Name, property: p})
}

// index sets what follows from the attributes.
func (s *shape) index() {
	types := make(map[string]tftypes.Type, len(s.attributes)+1)
	s.byName = make(map[string]*attribute, len(s.attributes))
	for _, a := range s.attributes {
		types[a.name], s.byName[a.name] = a.typ, a
		s.dynamic = s.dynamic || a.dynamic
		s.secret = s.secret || a.secret
	}
	s.typ = tftypes.Object{AttributeTypes: types}
}

// collection returns the shape of a list or mapping. It is dynamic if its elements are, since the elements of OpenTofu's lists have
// one type, and if it has objects that are not its own elements, since OpenTofu requires all of their attributes.
func collection(k kind, elem *shape) *shape {
	s := &shape{kind: k, elem: elem, secret: elem.secret}
	switch {
	case elem.dynamic || (elem.kind == list || elem.kind == mapping) && elem.elem.isObject():
		s.typ, s.dynamic = tftypes.DynamicPseudoType, true
	case k == list:
		s.typ = tftypes.List{ElementType: elem.typ}
	default:
		s.typ = tftypes.Map{ElementType: elem.typ}
	}
	return s
}

func (s *shape) isObject() bool { return s.kind == object || s.kind == anyType }

// shapes builds the shapes of types and caches the shapes of declarations. It is not safe for concurrent use.
type shapes struct {
	any     *shape // of references to resources of several types
	objects map[schema.Decl]*shape
	// reach caches the structs and unions in each one, however deep.
	reach map[schema.Decl]map[schema.Decl]bool
	// problems are the collisions of names.
	problems []error
}

func newShapes(n *names) *shapes {
	some := &shape{kind: anyType, names: n}
	some.add(stringShape, &schema.Property{Name: typeName, Doc: "The type of the resource."})
	some.add(stringShape, &schema.Property{Name: idName, Doc: "The id of the resource."})
	some.index()
	return &shapes{any: some, objects: map[schema.Decl]*shape{}, reach: map[schema.Decl]map[schema.Decl]bool{}}
}

// resource returns the shape of a resource type, which has an id.
func (b *shapes) resource(r *schema.Resource) *shape {
	s := b.object(r, resourceNames)
	s.byName[idName] = &attribute{shape: stringShape, name: idName}
	s.typ.(tftypes.Object).AttributeTypes[idName] = tftypes.String
	return s
}

// config returns the shape of the provider's configuration.
func (b *shapes) config(c *schema.Config) *shape { return b.object(c, providerNames) }

// err lists all collisions of names in the types seen so far.
func (b *shapes) err() error { return errors.Join(b.problems...) }

// object returns the shape of a declaration with properties.
func (b *shapes) object(d schema.Decl, reserved []string) *shape {
	if s := b.objects[d]; s != nil {
		return s
	}
	names, err := attributeNames(d, reserved)
	if err != nil {
		b.problems = append(b.problems, err)
	}
	_, union := d.(*schema.Union)
	s := &shape{kind: object, choice: union}
	b.objects[d] = s // Set early: it may contain itself as a jsonText.
	for i, p := range schema.Properties(d) {
		inner := *b.shape(p.Type, d)
		inner.secret, inner.hidden = inner.secret || p.Secret, p.Secret
		s.attributes = append(s.attributes, &attribute{shape: &inner, name: names[i], wire: p.Name, property: p})
	}
	s.index()
	return s
}

// shape returns the shape of a type in a property of a declaration.
func (b *shapes) shape(t schema.Type, in schema.Decl) *shape {
	switch t := schema.Underlying(t).(type) {
	case schema.Primitive:
		if t == schema.AnyResource {
			return b.any
		}
		return primitives[t]
	case *schema.List:
		return collection(list, b.shape(t.Elem, in))
	case *schema.Map:
		return collection(mapping, b.shape(t.Elem, in))
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Resource:
			return &shape{kind: reference, typ: tftypes.String, token: tokens.Type(d.Token), names: b.any.names}
		case *schema.Union:
			if d.Tokens() != nil {
				return b.any
			}
		case *schema.Enum:
			return stringShape
		}
		if b.reachable(t.Decl)[in] {
			return &shape{kind: jsonText, typ: tftypes.String, elem: b.object(t.Decl, nil), secret: b.anySecret(t.Decl)}
		}
		return b.object(t.Decl, nil)
	}
	return anyShape
}

// reachable returns the structs and unions whose values may be inside values of d.
func (b *shapes) reachable(d schema.Decl) map[schema.Decl]bool {
	if found := b.reach[d]; found != nil {
		return found
	}
	found := map[schema.Decl]bool{}
	for next := []schema.Decl{d}; len(next) > 0; {
		properties := schema.Properties(next[0])
		next = next[1:]
		for _, p := range properties {
			for ref := range schema.Refs(p.Type) {
				switch ref.Decl.(type) {
				case *schema.Struct, *schema.Union:
					if !found[ref.Decl] {
						found[ref.Decl] = true
						next = append(next, ref.Decl)
					}
				}
			}
		}
	}
	b.reach[d] = found
	return found
}

// anySecret reports whether values of d, which is recursive, may contain a secret property.
func (b *shapes) anySecret(d schema.Decl) bool {
	for inner := range b.reachable(d) {
		for _, p := range schema.Properties(inner) {
			if p.Secret {
				return true
			}
		}
	}
	return false
}
