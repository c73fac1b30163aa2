// Package pulumischema converts the model of an IDL to the schema of a Pulumi package, from which Pulumi generates SDKs.
//
// Tokens are those of the IDL. Only the name of the package differs if it contains a slash or a dash: the resource
// acme/net:index:Network is acme_net:index:Network. See [Token] and [FromToken].
//
// A resource reference is the other resource's id, a string. As types of properties, resources break the code that Pulumi's
// generators for TypeScript and Go write. A reference to several types of resources is any value: the resource, or an object of its
// type token and id.
//
// An int is an integer, although programs in C# and Java are then limited to 32 bits. As a number, it would be a float in Go and
// Python. A list or map within two others is any value. Defaults are only described, since SDKs would send them like values that
// the program sets, and the rules of the IDL distinguish the two. Former names of properties, constraints, and rules have no place
// in the schema. The provider applies them.
package pulumischema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// Token returns the Pulumi token of a resource or function.
func Token(token string) string {
	name, rest, _ := strings.Cut(token, ":")
	return Name(name) + ":" + rest
}

// FromToken returns the token in package pkg of a resource or function with the given Pulumi token.
func FromToken(pkg, token string) string {
	_, rest, _ := strings.Cut(token, ":")
	return pkg + ":" + rest
}

// Name returns the Pulumi name of a package. Pulumi allows dashes, but its generator for Go then writes invalid code.
func Name(pkg string) string { return strings.NewReplacer("/", "_", "-", "_").Replace(pkg) }

// Of returns the schema of pkg as indented JSON. The output is deterministic. The version is a semantic version, or empty if it
// is unknown. The error joins the [NameError] values of [CheckNames].
func Of(pkg *schema.Package, version string) ([]byte, error) {
	w := write(pkg)
	var errs []error
	for _, e := range w.checkNames() {
		errs = append(errs, e)
	}
	w.Version, w.Meta["supportPack"] = version, version != ""
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := errors.Join(append(errs, enc.Encode(w.spec))...); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// CheckNames returns errors for the names of pkg that its Pulumi schema cannot have, in the order of the IDL.
func CheckNames(pkg *schema.Package) []*NameError { return write(pkg).checkNames() }

// spec is any part of a schema; https://www.pulumi.com/docs/iac/using-pulumi/pulumi-packages/schema/ describes the parts.
type spec struct {
	Name                 string           `json:"name,omitempty"`
	Version              string           `json:"version,omitempty"`
	Value                any              `json:"value,omitempty"`
	Type                 string           `json:"type,omitempty"`
	Ref                  string           `json:"$ref,omitempty"`
	Description          string           `json:"description,omitempty"`
	DeprecationMessage   string           `json:"deprecationMessage,omitempty"`
	Meta                 map[string]any   `json:"meta,omitempty"`
	Language             map[string]any   `json:"language,omitempty"`
	Items                *spec            `json:"items,omitempty"`
	AdditionalProperties *spec            `json:"additionalProperties,omitempty"`
	Secret               bool             `json:"secret,omitempty"`
	WillReplaceOnChanges bool             `json:"willReplaceOnChanges,omitempty"`
	Enum                 []*spec          `json:"enum,omitempty"`
	Properties           map[string]*spec `json:"properties,omitempty"`
	Required             []string         `json:"required,omitempty"`
	InputProperties      map[string]*spec `json:"inputProperties,omitempty"`
	RequiredInputs       []string         `json:"requiredInputs,omitempty"`
	Aliases              []*spec          `json:"aliases,omitempty"`
	Inputs               *spec            `json:"inputs,omitempty"`
	Outputs              *spec            `json:"outputs,omitempty"`
	Variables            map[string]*spec `json:"variables,omitempty"`
	RequiredVariables    []string         `json:"defaults,omitempty"`
	Config               *spec            `json:"config,omitempty"`
	Types                map[string]*spec `json:"types,omitempty"`
	Provider             *spec            `json:"provider,omitempty"`
	Resources            map[string]*spec `json:"resources,omitempty"`
	Functions            map[string]*spec `json:"functions,omitempty"`
}

// writer converts declarations. It adds types to the schema when a property first refers to them.
type writer struct {
	spec
	pkg     *schema.Package
	byFile  bool // tokens contain files, so those of types must too
	written map[schema.Decl]bool
}

// write converts what programs can use of a package: resources, functions, the configuration, and the types of their properties.
func write(pkg *schema.Package) *writer {
	npmScope, npmName := path.Split(schema.TSPackageName(pkg)) // programs can import both packages
	w := &writer{pkg: pkg, written: map[schema.Decl]bool{}, spec: spec{
		Name: Name(pkg.Name), Meta: map[string]any{"moduleFormat": "(.*)"},
		Language: map[string]any{
			"nodejs": map[string]any{"packageName": npmScope + "pulumi-" + npmName},
			"python": map[string]any{"pyproject": map[string]bool{"enabled": true}},
			"go":     goOptions(pkg),
		},
		Types: map[string]*spec{}, Provider: &spec{}, Resources: map[string]*spec{}, Functions: map[string]*spec{},
	}}
	var config *schema.Config
	for d := range pkg.Decls() {
		switch d := d.(type) {
		case *schema.Config:
			config = d // its types need the form of tokens
		case *schema.Resource:
			w.Resources[w.token(d.Token, &d.Header)] = w.resource(d, d.Was, d.Named)
		case *schema.Function:
			w.Functions[w.token(d.Token, &d.Header)] = w.function(d)
		}
	}
	if config != nil {
		w.Provider = w.resource(config, nil, false)
		w.Config = &spec{Variables: w.Provider.Properties, RequiredVariables: w.Provider.Required}
	}
	for f := range pkg.Files() {
		if f.Module.Path == "" {
			w.Description = cmp.Or(w.Description, f.Doc)
		}
	}
	return w
}

// goOptions contains an import alias for each folder with dashes or slashes, because the generator writes invalid ones.
func goOptions(pkg *schema.Package) map[string]any {
	module := "example.com/pulumi-" + Name(pkg.Name) + "/sdk/go"
	base, aliases := path.Join(module, Name(pkg.Name)), map[string]string{}
	for _, m := range pkg.Modules {
		if alias := Name(m.Path); alias != m.Path {
			aliases[path.Join(base, m.Path)] = alias
		}
	}
	return map[string]any{
		"modulePath": module, "importBasePath": base, "packageImportAliases": aliases, "generateResourceContainerTypes": true,
	}
}

// token returns the Pulumi token of a resource or function, and finds out whether tokens contain files, as in aws:ec2/vpc:VPC.
func (w *writer) token(token string, h *schema.Header) string {
	if strings.Split(token, ":")[1] != h.File.Module.Token() {
		w.byFile, w.Meta["moduleFormat"] = true, "(.*)(?:/[^/]*)"
	}
	return Token(token)
}

// resource converts a resource, or the configuration. In a named resource, the name is by default that of the Pulumi resource.
func (w *writer) resource(d schema.Decl, was []string, named bool) *spec {
	w.written[d] = true
	o := &spec{Description: schema.TypeDoc(d), DeprecationMessage: harmless(d.Head().Deprecated)}
	o.Properties, o.Required = w.properties(d, func(p *schema.Property) (bool, bool) { return !p.In, !p.Optional || p.Computed })
	o.InputProperties, o.RequiredInputs = w.properties(d, func(p *schema.Property) (bool, bool) {
		return !p.Out, !p.Optional && (!named || p.Name != "name")
	})
	for _, token := range was {
		o.Aliases = append(o.Aliases, &spec{Type: Token(token)})
	}
	return o
}

func (w *writer) function(d *schema.Function) *spec {
	w.written[d] = true
	o := &spec{Description: schema.TypeDoc(d), DeprecationMessage: harmless(d.Deprecated), Inputs: &spec{}, Outputs: &spec{}}
	o.Inputs.Properties, o.Inputs.Required = w.properties(d, func(p *schema.Property) (bool, bool) { return !p.Out, !p.Optional })
	o.Outputs.Properties, o.Outputs.Required = w.properties(d, func(p *schema.Property) (bool, bool) { return p.Out, !p.Optional })
	return o
}

// properties returns the specs of the properties of d that are to be included, and the names of the required ones among them.
func (w *writer) properties(
	d schema.Decl, use func(*schema.Property) (include, require bool),
) (specs map[string]*spec, required []string) {
	specs = map[string]*spec{}
	for _, p := range schema.Properties(d) {
		include, require := use(p)
		if !include {
			continue
		}
		s := w.typeOf(p.Type, 0)
		s.Description = schema.PropertyDoc(p)
		if p.Default != nil {
			value, _ := json.Marshal(p.Default) // a bool, a number, or a string
			s.Description = strings.TrimSpace(fmt.Sprintf("%s\n\nThe default is %#q.", s.Description, value))
		}
		s.Secret, s.WillReplaceOnChanges, s.DeprecationMessage = p.Secret, p.Replaces, harmless(p.Deprecated)
		if specs[p.Name] = s; require {
			required = append(required, p.Name)
		}
	}
	slices.Sort(required)
	return specs, required
}

// typeOf converts the type of a value within depth lists and maps. A third one is any value, since Pulumi's SDK for Go does not
// have all of their types.
func (w *writer) typeOf(t schema.Type, depth int) *spec {
	switch t := schema.Underlying(t).(type) {
	case schema.Primitive:
		switch t {
		case schema.Bool:
			return &spec{Type: "boolean"}
		case schema.Int:
			return &spec{Type: "integer"}
		case schema.Number, schema.String:
			return &spec{Type: string(t)}
		case schema.Asset, schema.Archive:
			return &spec{Ref: "pulumi.json#/" + title(string(t))}
		}
	case *schema.List:
		if depth < 2 {
			return &spec{Type: "array", Items: w.typeOf(t.Elem, depth+1)}
		}
	case *schema.Map:
		if depth < 2 {
			return &spec{Type: "object", AdditionalProperties: w.typeOf(t.Elem, depth+1)}
		}
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Resource:
			return &spec{Type: "string"} // its id
		case *schema.Union:
			if d.Tokens() == nil {
				return w.object(d)
			}
		default:
			return w.object(d)
		}
	}
	return &spec{Ref: "pulumi.json#/Any"}
}

// object returns a reference to a struct, enum, or union of structs, and adds the type to the schema.
func (w *writer) object(d schema.Decl) *spec {
	h := d.Head()
	name, module := title(h.Name), h.File.Module.Token()
	if w.byFile {
		module = path.Join(module, schema.PropertyName(name))
	}
	token := Token(w.pkg.Name + ":" + module + ":" + name)
	if w.written[d] {
		return &spec{Ref: "#/types/" + token}
	}
	o := &spec{Description: schema.TypeDoc(d), Type: "object"}
	if h.Deprecated != "" {
		o.Description = strings.TrimSpace(o.Description + "\n\nDeprecated: " + h.Deprecated)
	}
	w.Types[token], w.written[d] = o, true // before the properties, which may refer to it
	if e, ok := d.(*schema.Enum); ok {
		o.Type = "string"
		for i, key := range schema.MemberKeys(e) {
			m := e.Members[i]
			o.Enum = append(o.Enum, &spec{Name: key, Value: m.Value, Description: m.Doc, DeprecationMessage: harmless(m.Deprecated)})
		}
	} else {
		o.Properties, o.Required = w.properties(d, func(p *schema.Property) (bool, bool) { return true, !p.Optional })
	}
	return &spec{Ref: "#/types/" + token}
}

// harmless replaces what generators do not quote in deprecation messages.
func harmless(message string) string {
	return strings.NewReplacer(`"`, "'", `\`, "/", "*/", "* /").Replace(message)
}
