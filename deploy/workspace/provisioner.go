package workspace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Provisioner returns the name of the provisioner that handles a type, or "" if its provider does. A listed type takes
// precedence over aws:rds:*. It returns an error if a type is mapped to several provisioners.
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
