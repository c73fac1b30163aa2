package workspace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Provisioner returns the name of the provisioner for a type, or "" if the type has none. A type's own entry takes
// precedence over a wildcard such as aws:rds:*. Provisioner returns an error if more than one provisioner matches.
func (w *Workspace) Provisioner(t tokens.Type) (string, error) {
	module := string(t[:strings.LastIndexByte(string(t), ':')+1]) + "*"
	for _, pattern := range []string{string(t), module} {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(w.Provisioners)) {
			if slices.Contains(w.Provisioners[name], pattern) {
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
