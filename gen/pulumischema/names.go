package pulumischema

import (
	"fmt"
	"go/token"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/idl/schema"
)

// NameError describes a name that Pulumi or one of its generators cannot use.
type NameError struct {
	// Header is the declaration that has the name or the property. For a folder or the package, it is the first one in it.
	Header *schema.Header
	// Pos is the position of the name. It is zero if unknown.
	Pos schema.Position
	// Message describes the problem, and Suggestion completes "help: …".
	Message, Suggestion string
}

func (e *NameError) Error() string {
	return e.Header.File.Path() + ": " + e.Message + "; " + e.Suggestion
}

// reserved is a pattern of names that a generator cannot use. They were found by compiling SDKs for a package with likely names.
type reserved struct {
	generator string
	names     *regexp.Regexp
}

var (
	// reservedTypes matches the folder's token, the kind, and the name. Go ignores files such as file_linux.go.
	reservedTypes = []reserved{
		{"TypeScript", regexp.MustCompile(`^\S+ (resource (Error|Object)|function (Pulumi|Utilities))$`)},
		{"Python", regexp.MustCompile(`^\S+ (resource Outputs|\w+ (False|None|True))$`)},
		{"any language", regexp.MustCompile(`[^\x20-\x7e]|^index \w+ Provider$`)},
		{"Go", regexp.MustCompile(`^(index (resource|function) ProviderArgs|\S+ enum String|` +
			`\S+ (resource|function) (Doc|Init|Pulumi(Enums|Types|Utilities)|.*_.*))$`)},
	}
	// reservedProperties matches the kind of the declaration, whether the property is out, and the name.
	reservedProperties = []reserved{
		{"any language", regexp.MustCompile(`^(\w+ pulumi|config\w+ (id|urn|version))$`)},
		{"TypeScript", regexp.MustCompile(`^((resource|config)\w+ getProvider|config\w+ (arguments|break|case|catch|class|const|continue|` +
			`debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|import|in|instanceof|let|new|null|` +
			`return|super|switch|this|throw|true|try|typeof|utilities|var|void|while|with))$`)},
		{"Python", regexp.MustCompile(`^(functionfalse opts|(resource|config)\w+ (get|pulumiResourceName|translate(In|Out)putProperty))$`)},
		{"Go", regexp.MustCompile(`^(\w+ _.*|(resource|config)\w+ pulumiResourceType)$`)}, // fields with _ are not exported
	}
	reservedFolders = regexp.MustCompile(`^(enums|inputs|internal|outputs|pulumi|types|utilities)$|^[^a-z]|[^-_a-z0-9]`)
	reservedPackage = regexp.MustCompile(`^(input|pulumi)$|^[^a-z]`)
)

// rejects returns the generator that cannot use a name, or "".
func rejects(list []reserved, name string) string {
	for _, r := range list {
		if r.names.MatchString(name) {
			return r.generator
		}
	}
	return ""
}

// names checks names. Its maps contain names as SDKs may spell them.
type names struct {
	errors   []*NameError
	declared map[string]schema.Decl // by folder and name
	folders  map[string]bool
}

// checkNames implements [CheckNames].
func (w *writer) checkNames() []*NameError {
	c := &names{declared: map[string]schema.Decl{}, folders: map[string]bool{}}
	for _, m := range w.pkg.Modules {
		c.folders[strings.ToLower(m.Path)] = true
	}
	bad := reservedPackage.MatchString(w.pkg.Name) || token.IsKeyword(w.pkg.Name)
	checked := map[string]bool{"": true}
	for d := range w.pkg.Decls() {
		if !w.written[d] {
			continue
		}
		h := d.Head()
		if bad {
			c.reject(h, schema.Position{}, "choose another name with //lumi:package=",
				"Pulumi cannot use the package name %s", w.pkg.Name)
		}
		dir := h.File.Module.Path
		if base := path.Base(dir); !checked[dir] && (reservedFolders.MatchString(base) || token.IsKeyword(base)) {
			c.reject(h, h.Pos, "rename the folder", "Pulumi cannot generate the folder %s", base)
		}
		bad, checked[dir] = false, true
		c.declaration(d, h)
		c.properties(d, h)
	}
	return c.errors
}

func (c *names) reject(h *schema.Header, pos schema.Position, suggestion, format string, args ...any) {
	c.errors = append(c.errors, &NameError{h, pos, fmt.Sprintf(format, args...), suggestion})
}

// declaration checks the name of a declaration, and the names that SDKs derive from it.
func (c *names) declaration(d schema.Decl, h *schema.Header) {
	name, module, rename := title(h.Name), h.File.Module, "rename it"
	derived := []string{name}
	switch d := d.(type) {
	case *schema.Config:
		return // its SDK name is always Provider
	case *schema.Resource:
		rename += " and keep its former name with //lumi:was=" + name
	case *schema.Struct, *schema.Union:
		derived = append(derived, name+"Args", name+"ArrayArray", name+"ArrayMap", name+"MapArray", name+"MapMap")
	case *schema.Function:
		derived = append(derived, name+"Output", name+"OutputArgs", name+"ResultOutput", name+"ResultOutputArgs")
	case *schema.Enum:
		keys := map[string]string{}
		for i, key := range schema.MemberKeys(d) {
			c.distinct(h, d.Members[i].Pos, keys, d.Members[i].Name, fold(key))
			derived = append(derived, name+key)
		}
	}
	if g := rejects(reservedTypes, module.Token()+" "+h.Kind+" "+name); g != "" {
		c.reject(h, h.Pos, rename, "Pulumi cannot generate the %s %s for %s", h.Kind, name, g)
	}
	if folder := strings.ToLower(path.Join(module.Path, name)); c.folders[folder] && (h.Kind == "resource" || h.Kind == "function") {
		c.reject(h, h.Pos, rename, "Pulumi cannot generate the %s %s beside the folder %s", h.Kind, name, path.Base(folder))
	}
	for _, n := range derived {
		key := module.Token() + ":" + fold(n)
		if other := c.declared[key]; other != nil && other != d {
			c.reject(h, h.Pos, "rename one of them", "%s and %s would both declare %s in Pulumi's SDKs", other.Head().Name, h.Name, n)
			break
		}
		c.declared[key] = d
	}
}

// properties checks the names of the properties of a declaration.
func (c *names) properties(d schema.Decl, h *schema.Header) {
	seen := map[string]string{}
	for _, p := range schema.Properties(d) {
		if g := rejects(reservedProperties, fmt.Sprint(h.Kind, p.Out, " ", p.Name)); g != "" {
			c.reject(h, p.Pos, "choose another name with `lumi:\"name=…\"`",
				"Pulumi cannot generate the property %s of the %s %s for %s", p.Name, h.Kind, h.Name, g)
		}
		c.distinct(h, p.Pos, seen, p.Name, fold(p.Name))
	}
}

// distinct checks that seen, which maps spellings to names, has no other name with the given spelling.
func (c *names) distinct(h *schema.Header, pos schema.Position, seen map[string]string, name, spelling string) {
	if other := seen[spelling]; other != "" {
		c.reject(h, pos, "rename one of them",
			"%s and %s of %s differ only in case or underscores, which Pulumi's SDKs change", other, name, h.Name)
	}
	seen[spelling] = name
}

// fold returns a name in the spelling in which SDKs may not distinguish it from others: Go capitalizes names, and Python separates
// words by underscores.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "$", "").Replace(name))
}

// title returns the name of a type in SDKs.
func title(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}
