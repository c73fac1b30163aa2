package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lang/muranopl"
)

func muranoDocCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "doc DIR|ARCHIVE...",
		Short: "document MuranoPL classes in Markdown",
		Long: `It prints the parents, properties and methods of the classes in folders and package archives, with the
comments before each class, property, method and argument.

With --json, it prints an object that maps each class to its Markdown.`,
		Annotations: exits("the documentation is printed", "the classes have errors", "a file cannot be read, the command was used wrongly, or the system failed"),
		Example:     examples("Document the classes of a folder.", "lumi murano doc murano >CLASSES.md"),
		RunE:        func(*cobra.Command, []string) error { return env.documentClasses() },
	}
}

func (e *environment) documentClasses() error {
	classes, err := e.openClasses(e.args)
	if err != nil {
		return e.printErrors(classes, err)
	}
	all := map[string]string{}
	for name, d := range classes.Declarations {
		p := page{classes: classes.Declarations}
		p.class(d)
		all[name] = p.String()
	}
	if e.json {
		return e.printJSON(all)
	}
	e.printf("# Classes\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for line := range strings.SplitSeq(strings.TrimSuffix(all[name], "\n"), "\n") {
			e.printf("%s\n", term.Visible(line))
		}
	}
	return nil
}

// page is the documentation of a class.
type page struct {
	strings.Builder
	classes muranopl.Declarations
}

func (p *page) class(d *muranopl.Declaration) {
	fmt.Fprintf(p, "\n## %s\n", d.Name)
	p.comment(d.Tree)
	spaces := d.Namespaces
	if spaces == nil {
		spaces = d.Tree.Get("Namespaces")
	}
	var parents []string
	for _, n := range d.Tree.Get("Extends").List() {
		name, err := muranopl.FullName(n, spaces)
		if err != nil {
			name, _ = n.Name()
		}
		link := code(name)
		if p.classes[name] != nil {
			anchor := strings.ToLower(strings.ReplaceAll(name, ".", ""))
			link = fmt.Sprintf("[%s](#%s)", link, anchor)
		}
		parents = append(parents, link)
	}
	if parents != nil {
		fmt.Fprintf(p, "\nExtends %s.\n", strings.Join(parents, ", "))
	}
	p.list(d.Tree.Get("Properties").Entries())
	methods := d.Tree.Get("Methods").Entries()
	if methods == nil {
		methods = d.Tree.Get("Workflow").Entries()
	}
	for _, m := range methods {
		var arguments []muranopl.Entry
		for _, a := range m.Value.Get("Arguments").List() {
			some := slices.Clone(a.Entries())
			if len(some) > 0 && a.Comment != "" { // before the dash
				key := *some[0].Key
				key.Comment = a.Comment
				some[0].Key = &key
			}
			arguments = append(arguments, some...)
		}
		var names []string
		for _, a := range arguments {
			name, _ := a.Key.Name()
			names = append(names, name)
		}
		name, _ := m.Key.Name()
		fmt.Fprintf(p, "\n### %s(%s)\n", name, strings.Join(names, ", "))
		p.comment(m.Key)
		p.list(arguments)
	}
}

func (p *page) comment(n *muranopl.Node) {
	if n.Comment != "" {
		fmt.Fprintf(p, "\n%s\n", n.Comment)
	}
}

// list writes properties or arguments.
func (p *page) list(rows []muranopl.Entry) {
	for i, row := range rows {
		if i == 0 {
			p.WriteString("\n")
		}
		name, _ := row.Key.Name()
		fmt.Fprintf(p, "- %s: ", code(name))
		if contract := row.Value.Get("Contract"); contract != nil {
			p.WriteString(code(notation(contract)))
		}
		if usage, ok := row.Value.Get("Usage").Text(); ok {
			fmt.Fprintf(p, ", %s", usage)
		}
		if preset := row.Value.Get("Default"); preset != nil {
			fmt.Fprintf(p, ", default %s", code(notation(preset)))
		}
		if row.Key.Comment != "" {
			fmt.Fprintf(p, ". %s", strings.Join(strings.Fields(row.Key.Comment), " "))
		}
		p.WriteString("\n")
	}
}

func code(s string) string {
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

// notation returns a value on one line, as YAML.
func notation(n *muranopl.Node) string {
	var parts []string
	switch v := n.Value.(type) {
	case nil:
		return "null"
	case muranopl.Expression:
		return string(v)
	case string:
		if v != "" && !strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' }) {
			return v
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case []*muranopl.Node:
		for _, item := range v {
			parts = append(parts, notation(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []muranopl.Entry:
		for _, e := range v {
			parts = append(parts, notation(e.Key)+": "+notation(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(n.Value)
}
