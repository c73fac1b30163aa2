package compile

import (
	"cmp"
	"go/ast"
	"go/parser"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// An IDL identifies itself in a directive above a package clause in its root:
//
//	//lumi:package=acme/net,npm=@acme/net,tokens=file

// packageDirective starts the directive.
const packageDirective = directivePrefix + "package"

var npmNames = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)

// identities returns the directives in a folder, which need not be loaded.
func (c *checker) identities(dir string) []*ast.Comment {
	if list, known := c.roots[dir]; known {
		return list
	}
	c.roots[dir] = nil
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		info, err := os.Stat(name)
		isGo := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.ContainsAny(e.Name()[:1], "._")
		if !isGo || err != nil || !info.Mode().IsRegular() {
			continue
		}
		file := c.header(name)
		if file == nil {
			continue
		}
		for _, g := range file.Comments {
			for _, comment := range g.List {
				if comment.Pos() < file.Package && strings.HasPrefix(comment.Text, packageDirective) {
					c.roots[dir] = append(c.roots[dir], comment)
				}
			}
		}
	}
	return c.roots[dir]
}

// header returns a file up to its package clause, or nil if it cannot be read.
func (c *checker) header(name string) *ast.File {
	file, known := c.headers[name]
	if !known {
		file, _ = parser.ParseFile(c.fset, name, nil, parser.PackageClauseOnly|parser.ParseComments)
		c.headers[name] = file
	}
	return file
}

// identify sets the package's names and the form of its tokens from the directive in its root, or else from the options.
func (c *checker) identify(opts Options) error {
	list := c.identities(c.tree.root)
	if len(list) == 0 {
		c.tokens = opts.Tokens
		var err error
		c.pkg.Name, err = packageName(opts)
		return err
	}
	reported := len(c.diags)
	c.applyIdentity(list)
	if len(c.diags) > reported || opts.Older {
		return nil
	}
	for _, flag := range []struct{ name, given, own string }{
		{"package", opts.Package, c.pkg.Name}, {"tokens", string(opts.Tokens), string(c.tokens)},
	} {
		if flag.given != "" && flag.given != flag.own {
			c.report(diag.PackageIdentity, list[0], "the flag --%s=%s contradicts this directive: %s=%s",
				flag.name, flag.given, flag.name, flag.own).Suggestion = "remove the flag, or change the directive"
		}
	}
	return nil
}

// applyIdentity parses the directive of an IDL, which must have exactly one.
func (c *checker) applyIdentity(list []*ast.Comment) {
	for _, again := range list[1:] {
		report := c.report(diag.PackageIdentity, again, "a second directive identifies the package")
		report.Suggestion = "remove it"
		c.note(report, list[0], "the first is here")
	}
	valid := map[string]func(string) bool{
		"package": packageNames.MatchString, "npm": npmNames.MatchString,
		"tokens": func(form string) bool { return form == string(TokensByModule) || form == string(TokensByFile) },
	}
	values := map[string]string{}
	for _, o := range directiveOptions(list[0]) {
		key, text, _ := strings.Cut(o.text, "=")
		value, paired := unquote(text)
		switch _, again := values[key]; {
		case valid[key] == nil:
			c.report(diag.PackageIdentity, o, "unknown option %q of the package", o.text).Suggestion = "the options are package=, npm=, and tokens="
		case again:
			c.report(diag.PackageIdentity, o, "repeated option").Suggestion = "remove it"
		case !paired || !valid[key](value):
			help := map[string]string{"package": packageGrammar, "npm": "use a name that npm accepts, such as @acme/net", "tokens": "use module or file"}
			c.report(diag.PackageIdentity, o, "invalid value %q of %s", text, key).Suggestion = help[key]
		}
		values[key] = value
	}
	c.pkg.Name, c.pkg.NPM = values["package"], values["npm"]
	c.pkg.NPM = schema.TSPackageName(c.pkg)
	c.tokens = cmp.Or(TokenForm(values["tokens"]), TokensByModule)
}
