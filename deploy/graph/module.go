package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Module is the desired state of a module.
type Module struct {
	// Name is the name of the module, the package of its URNs.
	Name string
	// Resources lists the program's resources in dependency order. Module vertices are not included.
	Resources []*lumigl.Vertex
	// Provides and Uses are sorted as in [Version], but have no results or targets yet. References in values point to
	// vertices of the desired graph.
	Provides      []Provided
	Uses          []Edge
	Configuration lumigl.Value
	Config        lumigl.Value
}

// Version returns a new version of the module with the given resources. Its edges are unresolved, and Provides is
// empty.
func (m *Module) Version(d Deployment, resources []*Resource) *Version {
	v := NewVersion(VersionID{Module: m.Name, Deployment: d}, resources)
	v.Configuration, v.Config, v.Uses = m.Configuration, m.Config, slices.Clone(m.Uses)
	return v
}

// ModuleOf converts a valid desired graph to a Module. The module's name is the graph's package or, if that is empty,
// the package of its first resource. ModuleOf returns a *[RefusedError] if resources belong to another environment or
// to more than one module.
func ModuleOf(desired *lumigl.Snapshot, environment string) (*Module, error) {
	vertices, err := lumigl.NewIndex(desired.Base()).Sorted()
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(desired.Package, "#")
	if i := slices.IndexFunc(vertices, isOwn); i >= 0 && name == "" {
		name = packageOf(vertices[i].URN())
	}
	var problems []string
	if tokens.CheckPackage(name) != nil {
		problems = append(problems, fmt.Sprintf(`"package" must be the name of the module, got %q`, desired.Package))
	}
	m := &Module{Name: name, Configuration: desired.Field("configuration")}
	for key, v := range desired.Field("config").Members() {
		if v.Kind() != lumigl.Null { // null represents a declared key without a value
			m.Config = m.Config.With(key, v)
		}
	}
	for _, v := range vertices {
		where := string(v.URN())
		if v.Source != "" {
			where += " (" + v.Source + ")"
		}
		switch p, _ := v.URN().Parts(); {
		case p.Environment != environment:
			problems = append(problems, fmt.Sprintf("%s belongs to environment %s; evaluate the program for %s", where, p.Environment, environment))
		case isOwn(v) && p.Package != name:
			problems = append(problems, fmt.Sprintf("%s belongs to module %s, not %s; deploy each module separately", where, p.Package, name))
		default:
			m.add(v, p.Package)
		}
	}
	if len(problems) > 0 {
		return nil, &RefusedError{Problems: problems}
	}
	slices.SortFunc(m.Provides, compareProvided)
	slices.SortFunc(m.Uses, compareUses)
	return m, nil
}

// ModelName is the name of the provided value that holds the saved model, which the next evaluation starts from. Like
// other provided values, it is stored, sealed, and resolved, but other modules cannot use it.
const ModelName = "?model"

// SetModel adds a saved model to a desired graph. The model is stored as a property, since other fields cannot contain
// references.
func SetModel(desired *lumigl.Snapshot, environment string, model lumigl.Value) error {
	u, err := moduleURN(environment, desired.Package)
	if err != nil {
		return err
	}
	v := desired.Vertex(string(u))
	if v == nil {
		if v, err = desired.Add(u); err != nil {
			return err
		}
	}
	entry := object(field("type", lumigl.TextOf("any")), field("value", model))
	v.Properties = v.Properties.With("provides", v.Properties.Get("provides").With(ModelName, entry))
	return nil
}

// isOwn reports whether a vertex belongs to the program's own module.
func isOwn(v *lumigl.Vertex) bool {
	return v.Type != lumigl.ModuleType || v.Properties.Get("provides").Exists()
}

// add adds a vertex to the module: a resource, or the provided values and uses of a module vertex.
func (m *Module) add(v *lumigl.Vertex, module string) {
	if v.Type != lumigl.ModuleType {
		m.Resources = append(m.Resources, v)
		return
	}
	for name, entry := range v.Properties.Get("provides").Members() {
		m.Provides = append(m.Provides, Provided{Name: name, Type: Type{entry.Get("type")}, Value: entry.Get("value")})
	}
	for name, entry := range v.Properties.Get("uses").Members() {
		where, _ := entry.Get("where").Text()
		m.Uses = append(m.Uses, Edge{Constraint: Constraint{module, name, Type{entry.Get("type")}, where}})
	}
}

func compareProvided(a, b Provided) int { return cmp.Compare(a.Name, b.Name) }

func compareUses(a, b Edge) int {
	return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Name, b.Name))
}

// packageOf returns the package of a URN, which is also its module's name.
func packageOf(u urn.URN) string {
	p, _ := u.Parts()
	return p.Package
}

// moduleURN returns the URN of the module's vertex.
func moduleURN(environment, module string) (urn.URN, error) {
	name := module[strings.LastIndexByte(module, '/')+1:]
	return urn.Format(urn.Parts{Environment: environment, Package: module, Module: "index", Type: lumigl.ModuleType, Name: name})
}
