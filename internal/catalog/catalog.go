// Package catalog documents the codes of diagnostics. The entry for each code is a Markdown file whose heading is the
// code and whose first sentence states the rule.
package catalog

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// Entry documents one code.
type Entry struct {
	Code string `json:"code"`
	// About is the kind of thing that the code identifies, such as "diagnostic".
	About string `json:"about"`
	Group string `json:"group"`
	// Text is the content in Markdown, without the heading.
	Text string `json:"text"`
}

// Catalog lists entries in the order of index.txt, group by group. Entries with the same code differ in About.
type Catalog []Entry

// New reads a catalog from a folder in files. The folder contains a file CODE.md for each code, and an index.txt that
// lists the codes, one per indented line, below the titles of their groups. New panics if a file is missing, since
// files should be embedded.
func New(about string, files fs.FS, dir string) Catalog {
	read := func(name string) string {
		text, err := fs.ReadFile(files, dir+"/"+name)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	var c Catalog
	group := ""
	for line := range strings.Lines(read("index.txt")) {
		code, indented := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "    ")
		switch {
		case indented:
			c = append(c, Entry{code, about, group, strings.TrimPrefix(read(code+".md"), "# "+code+"\n\n")})
		case code != "":
			group = code
		}
	}
	return c
}

// Codes returns all codes in catalog order, without duplicates.
func (c Catalog) Codes() []string {
	var codes []string
	for _, e := range c {
		if !slices.Contains(codes, e.Code) {
			codes = append(codes, e.Code)
		}
	}
	return codes
}

// Select returns the entries for the given codes, ignoring case and surrounding brackets. For an unknown code, it
// returns an error that suggests a similar code or else command, which lists all codes.
func (c Catalog) Select(codes []string, command string) (Catalog, error) {
	var chosen Catalog
	for _, arg := range codes {
		code, before := strings.Trim(arg, "[]"), len(chosen)
		for _, e := range c {
			if strings.EqualFold(e.Code, code) {
				chosen = append(chosen, e)
			}
		}
		if len(chosen) > before {
			continue
		}
		hint := fmt.Sprintf("'%s' lists all codes", command)
		if near := suggest.Name(code, c.Codes()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, fmt.Errorf("unknown code %q; %s", arg, hint)
	}
	return chosen, nil
}

// Explain formats all entries for a terminal. It calls heading for the first line of each entry.
func (c Catalog) Explain(heading func(Entry) string) string {
	var entries []string
	for _, e := range c {
		entries = append(entries, heading(e)+"\n\n"+e.Plain())
	}
	return strings.Join(entries, "\n")
}

// List formats all codes for a terminal, grouped under headings. An empty line follows each group.
func (c Catalog) List(heading func(title string) string) string {
	var b strings.Builder
	for i, e := range c {
		if i == 0 || e.Group != c[i-1].Group {
			b.WriteString(heading(e.Group) + ":\n")
		}
		b.WriteString("    " + e.Code + "\n")
		if i == len(c)-1 || e.Group != c[i+1].Group {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// Plain formats the text for a terminal. Code blocks are indented instead of fenced, and preceded by their file names.
func (e Entry) Plain() string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(e.Text) {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence:
			inside = !inside
			if _, file, named := strings.Cut(strings.TrimSpace(info), " "); named {
				b.WriteString(file + ":\n\n")
			}
		case inside && strings.TrimSpace(line) != "":
			b.WriteString("    " + line)
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}
