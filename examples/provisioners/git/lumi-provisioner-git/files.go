package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/runtime/provisioner"
)

// file is the JSON content of a resource's file.
type file struct {
	URN  string `json:"urn"`
	Type string `json:"type"`
	// Key is the resource's key in the metadata returned by Status.
	Key          string   `json:"key"`
	Dependencies []string `json:"dependencies,omitempty"`
	Properties   any      `json:"properties"`
}

// files holds the files that a change writes and deletes. All maps are keyed by file name.
type files struct {
	// wanted contains the contents of the files of new resources.
	wanted map[string][]byte
	// gone contains the keys of the resources whose files are deleted.
	gone map[string]string
	// labels contains the types and names of all resources, for commit messages.
	labels map[string]string
}

// filesOf returns the files of a change, with the latest version of each resource. It returns an error that names the
// property if a property is secret or otherwise invalid.
func filesOf(c *provisioner.Change) (*files, error) {
	all := &files{map[string][]byte{}, map[string]string{}, map[string]string{}}
	latest := map[string]int{}
	for _, r := range c.New {
		name := fileName(r)
		number, _ := strconv.Atoi(r.Key[strings.LastIndexByte(r.Key, ':')+1:])
		if last, ok := latest[name]; ok && last > number {
			continue
		}
		latest[name], all.labels[name] = number, string(r.Type)+" "+r.URN.Name()
		f := file{URN: string(r.URN), Type: string(r.Type), Key: r.Key}
		for _, u := range r.Dependencies {
			f.Dependencies = append(f.Dependencies, string(u))
		}
		var err error
		if f.Properties, err = plain(r.Properties, ""); err != nil {
			return nil, fmt.Errorf("%s: %w", r.URN, err)
		}
		if all.wanted[name], err = marshal(f); err != nil {
			return nil, fmt.Errorf("%s: %w", r.URN, err)
		}
	}
	for _, r := range c.Old {
		if name := fileName(r); all.wanted[name] == nil {
			all.gone[name], all.labels[name] = max(all.gone[name], r.Key), string(r.Type)+" "+r.URN.Name()
		}
	}
	return all, nil
}

// digest returns an identifier of a change. It covers the keys, so that it differs from the digest of an earlier change
// with the same properties.
func (f *files) digest(environment, module string) string {
	parts := []string{environment, module}
	for _, name := range slices.Sorted(maps.Keys(f.wanted)) {
		parts = append(parts, name, string(f.wanted[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(f.gone)) {
		parts = append(parts, f.gone[name])
	}
	return digest(parts...)[:40]
}

// marshal returns v as indented JSON with sorted keys. The result is deterministic.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(v)
	return b.Bytes(), err
}

// prefix is the prefix of the single key in an object that encodes a special value.
const prefix = "lumi:"

// plain converts a value to JSON types. at is its path. It returns an error if the value contains a secret or a reserved
// key.
func plain(v any, at string) (any, error) {
	special := func(name string, v any) (any, error) {
		v, err := plain(v, at)
		return map[string]any{prefix + name: v}, err
	}
	switch v := v.(type) {
	case provisioner.Secret:
		return nil, fmt.Errorf("property %s is a secret and must not be committed: pass the name of an entry in a secret manager "+
			"that the pipeline reads", cmp.Or(at, "properties"))
	case provisioner.Reference:
		target := map[string]any{"urn": string(v.URN)}
		if v.Property != "" {
			target["property"] = v.Property
		}
		return special("reference", target)
	case provisioner.Interpolation:
		return special("interpolate", v.Parts)
	case provisioner.JSON:
		return special("jsonStringify", v.Value)
	case provisioner.Part:
		return special("get", map[string]any{"of": v.Of, "path": v.Path})
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			var err error
			if list[i], err = plain(element, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		all := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			path := strings.TrimPrefix(at+"."+name, ".")
			if strings.HasPrefix(name, prefix) {
				return nil, fmt.Errorf("property %s: keys that begin with %q are reserved; choose another one", path, prefix)
			}
			var err error
			if all[name], err = plain(v[name], path); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return v, nil
}

var (
	// word matches path elements that are valid in refs and valid and unambiguous on all file systems.
	word     = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)
	reserved = regexp.MustCompile(`^(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|lock)$`)
	unsafe   = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
)

// fileName returns the name of a resource's file. It contains a digest of the URN to distinguish resources whose names
// differ only in case or in invalid characters.
func fileName(r *provisioner.Resource) string {
	return fmt.Sprintf("%s-%s-%s.json", readable(r.Type.Name(), 60), readable(r.URN.Name(), 60), digest(string(r.URN))[:12])
}

func readable(s string, most int) string {
	s = unsafe.ReplaceAllString(s, "_")
	return s[:min(len(s), most)]
}

// part converts the name of an environment, or an element of a module's name, to a valid element of paths and branch names.
func part(s string) string {
	if word.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	return strings.ToLower(readable(s, 40)) + "." + digest(s)[:12]
}

// expand replaces {environment} and {module} in a template. It joins the elements of the module's name with separator.
func expand(template, environment, module, separator string) string {
	words := strings.Split(module, "/")
	for i, w := range words {
		words[i] = part(w)
	}
	return strings.NewReplacer("{environment}", part(environment), "{module}", strings.Join(words, separator)).Replace(template)
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
