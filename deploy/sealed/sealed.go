// Package sealed reads and writes config/ENV.sealed.json, the file with the secret configuration of an environment. It is
// a JSON object with one line for each value, sorted by name: MODULE.KEY, or KEY for a value shared by all modules.
//
//	{
//	  "note": "age:1:YWdlLWVu…",
//	  "shop.password": "age:1:YWdlLWVu…"
//	}
//
// Package [secret] seals the values. A value can be opened only under its own name and in its own environment. While the
// environment's key is being changed, a value consists of several sealed texts, separated by spaces.
package sealed

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/atomicfile"
)

// File is the sealed file of an environment.
type File struct {
	// Path is the path of the file, which need not exist.
	Path string
	// Entries are sorted by name.
	Entries []Entry

	environment string
}

// Entry is a sealed value. Line and Column locate it in the file, unless it is new.
type Entry struct {
	Name         string
	Line, Column int

	sealed string
}

// Read reads the sealed file of an environment in the folder of Lumi.yaml. A missing file has no entries. If the file has
// errors, Read returns a *[workspace.Error] that lists them.
func Read(folder, environment string) (*File, error) {
	name := strings.NewReplacer("/", "%2F", `\`, "%5C").Replace(environment) + ".sealed.json"
	f := &File{Path: filepath.Join(folder, "config", name), environment: environment}
	src, err := os.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read the sealed configuration: %w", err)
	}
	if problems := f.parse(string(src)); len(problems) > 0 {
		return nil, &workspace.Error{File: f.Path, Problems: problems}
	}
	return f, nil
}

// entryForm matches the line of an entry.
var entryForm = regexp.MustCompile(`^ *"([^"]+)": "((?:(?:age|key):1:[A-Za-z0-9+/]+=* ?)+)",?$`)

// parse sets the entries of f and returns the errors in src, which do not quote it, since it may contain plain secrets.
func (f *File) parse(src string) (problems []workspace.Problem) {
	last := ""
	for i, line := range strings.Split(src, "\n") {
		line = strings.TrimRight(line, " \r")
		if slices.Contains([]string{"", "{", "}", "{}"}, line) {
			continue
		}
		e := Entry{Line: i + 1}
		if m := entryForm.FindStringSubmatchIndex(line); m != nil {
			e.Name, e.Column, e.sealed = line[m[2]:m[3]], m[4], line[m[4]:m[5]]
		}
		if _, _, ok := workspace.CutName(e.Name); !ok {
			const message = `expected "KEY": "age:1:…" or "MODULE.KEY": "age:1:…", as written by 'lumi config set --secret'`
			problems = append(problems, workspace.Problem{Line: e.Line, Column: 1, Message: message})
			continue
		} else if e.Name <= last {
			message := fmt.Sprintf("%s must not follow %s: sort the lines, and remove duplicates", e.Name, last)
			problems = append(problems, workspace.Problem{Line: e.Line, Column: 1, Message: message})
		}
		f.Entries, last = append(f.Entries, e), e.Name
	}
	return problems
}

// Names returns the names of all entries, sorted.
func (f *File) Names() (names []string) {
	for _, e := range f.Entries {
		names = append(names, e.Name)
	}
	return names
}

// place returns the place for which an entry is sealed.
func (f *File) place(name string) string { return f.environment + " " + name }

// Open returns the value of the entry called name, which must exist. It opens it with key or with an age identity, and
// returns a *[secret.KeyError] if these are missing or cannot open it.
func (f *File) Open(name string, key *secret.Key) (string, error) {
	i, _ := f.find(name)
	e := f.Entries[i]
	var first error
	for _, sealed := range strings.Fields(e.sealed) {
		text, err := secret.OpenText(key, f.place(name), sealed)
		if err == nil {
			return text, nil
		}
		first = cmp.Or(first, err)
	}
	return "", fmt.Errorf("%s:%d:%d: %s: %w", f.Path, e.Line, e.Column, name, first)
}

// Set seals text for w's age recipients, or else with key, as the value of the entry called name, whose form must be valid.
func (f *File) Set(name, text string, w *secret.Wrapper, key *secret.Key) error {
	sealed, err := w.SealText(key, f.place(name), text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f.Delete(name)
	i, _ := f.find(name)
	f.Entries = slices.Insert(f.Entries, i, Entry{Name: name, sealed: sealed})
	return nil
}

// Delete removes the entry called name. It returns false if there is none.
func (f *File) Delete(name string) bool {
	i, found := f.find(name)
	if found {
		f.Entries = slices.Delete(f.Entries, i, i+1)
	}
	return found
}

func (f *File) find(name string) (int, bool) {
	return slices.BinarySearchFunc(f.Entries, name, func(e Entry, name string) int { return cmp.Compare(e.Name, name) })
}

// Reseal opens all entries with the key from, and seals them for w's age recipients, or else with the key to. It calls
// commit, which changes the environment's key and, if it fails, reports whether that key is unchanged. Until commit
// returns, the file can be opened with both keys, so that a crash loses nothing.
func (f *File) Reseal(w *secret.Wrapper, from, to *secret.Key, commit func() (unchanged bool, err error)) error {
	both, after := *f, *f
	both.Entries, after.Entries = slices.Clone(f.Entries), slices.Clone(f.Entries)
	for i, e := range f.Entries {
		text, err := f.Open(e.Name, from)
		if err != nil {
			return err
		}
		sealed, err := w.SealText(to, f.place(e.Name), text)
		if err != nil {
			return err
		}
		both.Entries[i].sealed, after.Entries[i].sealed = e.sealed+" "+sealed, sealed
	}
	if err := both.Write(); err != nil {
		return err
	}
	unchanged, err := commit()
	switch {
	case err == nil:
		return after.Write()
	case unchanged:
		return errors.Join(err, f.Write())
	}
	return err
}

// Write replaces the file atomically. A file without entries is removed.
func (f *File) Write() error {
	if len(f.Entries) == 0 {
		if err := os.Remove(f.Path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	all := map[string]string{}
	for _, e := range f.Entries {
		all[e.Name] = e.sealed
	}
	text, _ := json.MarshalIndent(all, "", "  ") // sorted by key; strings can always be encoded
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(f.Path, append(text, '\n'))
}
