package workspace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Provisioner describes a provisioner.
type Provisioner struct {
	// Types lists its resource types. An element is a type token, or package:module:* for all types of a module.
	Types []string `json:"types"`
	// Command is the command that starts it: an executable, which is a name on $PATH or a path with forward slashes, and its
	// arguments. If it is empty, the executable is lumi-provisioner-NAME, next to lumi or on $PATH.
	Command []string `json:"command,omitempty"`
	// Protocol is "json", or "grpc" or "" for gRPC.
	Protocol string `json:"protocol,omitempty"`
}

// Provisioner returns the name of the provisioner for a type, or "" if the type has none. A type's own entry takes
// precedence over a wildcard such as aws:rds:*. Provisioner returns an error if more than one provisioner matches.
func (w *Workspace) Provisioner(t tokens.Type) (string, error) {
	module := string(t[:strings.LastIndexByte(string(t), ':')+1]) + "*"
	for _, pattern := range []string{string(t), module} {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(w.Provisioners)) {
			if slices.Contains(w.Provisioners[name].Types, pattern) {
				all = append(all, name)
			}
		}
		switch len(all) {
		case 0:
		case 1:
			return all[0], nil
		default:
			return "", fmt.Errorf("%s maps %s to provisioners %s: keep it under only one of them", w.File, pattern, strings.Join(all, " and "))
		}
	}
	return "", nil
}

// provisioners reads the provisioners. The value of each is a list of types or an object.
func (r *reader) provisioners(p property) map[string]Provisioner {
	found := map[string]Provisioner{}
	r.object(p, "provisioner", provisionerForm, func(p property) {
		if kindOf(p.value) == "an object" {
			found[p.name] = r.provisioner(p)
		} else if types := r.list(p, "[TYPE]", "type", typeForm); types != nil {
			found[p.name] = Provisioner{Types: types}
		}
	})
	return found
}

func (r *reader) provisioner(p property) (result Provisioner) {
	hasTypes := false
	r.entries(p.path, p.value, func(name string, key, value *yaml.Node) {
		setting := property{join(p.path, name), name, key, value}
		switch name {
		case "types":
			hasTypes = true
			result.Types = r.list(setting, "[TYPE]", "type", typeForm)
		case "command":
			result.Command = r.list(setting, "[FILE]", setting.path, wordForm)
			if result.Command != nil && len(result.Command) == 0 {
				r.add(value, "%s is empty; write command: [FILE]", setting.path)
			}
		case "protocol":
			result.Protocol = r.text(setting, "json", protocolForm, setting.path)
		default:
			help := cmp.Or(near(name, []string{"types", "command", "protocol"}), "; valid keys are types, command, and protocol")
			r.add(key, "unknown key %s%s", quote(name), help)
		}
	})
	if !hasTypes {
		r.add(p.key, "%s has no types; write types: [TYPE]", p.path)
	}
	return result
}
