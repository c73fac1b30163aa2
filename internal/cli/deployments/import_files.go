package deployments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/deploy/adopt"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// resources returns the resources to import: the one in args or, without args, those in the snapshot.
func (i *importCommand) resources(args []string) ([]*adopt.Resource, error) {
	if len(args) == 0 {
		return i.snapshot()
	}
	t, err := tokens.Parse(args[0])
	if err != nil {
		return nil, console.Misused("%s", err)
	}
	one := &adopt.Resource{Type: t, ID: args[len(args)-1]}
	if len(args) == 3 {
		one.Name = args[1]
	}
	return []*adopt.Resource{one}, nil
}

// snapshot returns the resources in a snapshot, with their types mapped.
func (i *importCommand) snapshot() (all []*adopt.Resource, err error) {
	doc, err := document.Load(i.Console, i.from)
	if err != nil {
		return nil, err
	}
	snapshot, ok := doc.Document.(*lumigl.Snapshot)
	if !ok {
		return nil, fmt.Errorf("%s is a general graph, not a snapshot", doc.Name)
	}
	in, err := document.ReadFile(i.Console, i.types)
	if err != nil {
		return nil, err
	}
	mappings, err := adopt.ParseTypes([]byte(in.Src), in.Name)
	if err != nil {
		return nil, err
	}
	i.mapped = map[tokens.Type]string{}
	wrong, by := &plan.Error{}, map[*lumigl.Vertex]*adopt.Resource{}
	missing := map[tokens.Type]bool{}
	at := places{name: doc.Name, src: doc.Src}
	for v := range snapshot.Vertices() {
		m, isMapped := mappings[string(v.Type)]
		source := at.of(v.Key())
		isInternal := v.Extensions.Get("pulumi").Get("custom").Exists() // a component, a stack, or a provider of Pulumi
		switch {
		case v.Type == lumigl.ModuleType || isInternal || missing[v.Type] || isMapped && m.Type == "":
			continue
		case !isMapped:
			missing[v.Type] = true
			wrong.Faults = append(wrong.Faults, plan.Fault{Source: source, Message: fmt.Sprintf("%s has no entry for the type %s", in.Name, v.Type)})
			continue
		}
		i.mapped[m.Type] = cmp.Or(i.mapped[m.Type], m.Source)
		one := &adopt.Resource{Type: m.Type, Name: v.URN().Name(), ID: v.ID, Source: source, Refers: map[string]*adopt.Resource{}}
		message := "the id is missing"
		if m.ID != "" {
			one.ID, _ = v.Properties.Get(m.ID).Text()
			message = fmt.Sprintf("property %s, which is its id according to %s, is missing or not a string", m.ID, in.Name)
		}
		if one.ID == "" {
			wrong.Faults = append(wrong.Faults, plan.Fault{URN: v.URN(), Source: source, Message: message})
		}
		for name, value := range v.Properties.Members() {
			for target := range value.References() { // targets come first
				if to := by[target]; to != nil {
					one.Refers[name] = to
				}
			}
		}
		by[v], all = one, append(all, one)
	}
	switch {
	case len(wrong.Faults) > 0:
		return nil, wrong
	case len(all) == 0:
		return nil, fmt.Errorf("%s has no resources to import", doc.Name)
	}
	return all, nil
}

// places finds the positions of keys in a file, in the order of the file.
type places struct {
	name, src    string
	offset, line int // of the last key; line counts from 0
}

func (p *places) of(key string) string {
	if i := strings.Index(p.src[p.offset:], string(lumigl.AppendText(nil, key))); i >= 0 {
		p.line += strings.Count(p.src[p.offset:p.offset+i], "\n")
		p.offset += i
	}
	column := utf8.RuneCountInString(p.src[strings.LastIndexByte(p.src[:p.offset], '\n')+1 : p.offset])
	return fmt.Sprintf("%s:%d:%d", p.name, p.line+1, column+1)
}

// imported matches the module from which a program imports a namespace.
var imported = regexp.MustCompile(`import \* as \S+ from ["']([^"']+)["']`)

// specifier returns the module from which the program imports an npm package: the folder that it imports already, the folder
// pack in its folder or a parent, or the name of the package.
func (i *importCommand) specifier(npm string) string {
	folder := i.ProgramFolder(i.module)
	text, _ := os.ReadFile(i.Path(i.Workspace.Modules[i.module])) // the program may not exist yet
	var candidates []string
	for _, found := range imported.FindAllStringSubmatch(string(text), -1) {
		candidates = append(candidates, found[1])
	}
	for dir, up := folder, "./"; len(dir) > len(filepath.Dir(dir)); dir, up = filepath.Dir(dir), "../"+strings.TrimPrefix(up, "./") {
		candidates = append(candidates, up+"pack/index.js")
	}
	for _, candidate := range candidates {
		var manifest struct{ Name string }
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(path.Dir(candidate)), "package.json"))
		if strings.HasPrefix(candidate, ".") && err == nil && json.Unmarshal(text, &manifest) == nil && manifest.Name == npm {
			return candidate
		}
	}
	return npm
}

func (i *importCommand) print(p *adopt.Program, resources []*adopt.Resource) error {
	if i.JSON {
		type resource struct {
			Type    tokens.Type `json:"type"`
			Name    string      `json:"name,omitempty"`
			ID      string      `json:"id"`
			LeftOut []string    `json:"leftOut"`
		}
		all := []resource{}
		for _, one := range resources {
			if one.IsLookUp {
				continue
			}
			all = append(all, resource{one.Type, one.Name, one.ID, append([]string{}, one.LeftOut...)})
		}
		return i.PrintJSON(map[string]any{
			"version": 1, "environment": i.Environment.Name, "module": i.module, "program": p.Text, "resources": all,
			"secrets": append([]string{}, p.Secrets...), "undefined": append([]string{}, p.Undefined...),
		})
	}
	i.Printf("%s", p.Text)
	if err := i.Stdout.Flush(); err != nil {
		return err
	}
	for _, key := range p.Secrets {
		i.Say("the program reads a secret: set it with 'lumi config set --secret %s.%s%s'", i.module, key, i.Flag())
	}
	for _, name := range p.Undefined {
		i.Say("the program needs a value for %s, which cannot be read", name)
	}
	return nil
}
