package plan

import (
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
)

// verdict is the decision to update, replace, or otherwise keep a resource of the graph.
type verdict struct {
	updates, replaces bool
	// The remaining fields become the fields Possible, NotCompared, Reasons, and Replaces of the step.
	possible, notCompared bool
	reasons, paths        []string
}

// judge decides whether a resource of the graph is kept, updated, or replaced.
func judge(c *classified, checked lumigl.Value, changes []Change) (v verdict) {
	switch {
	case c.stored.Gone():
		v.reasons = append(v.reasons, "it no longer exists")
	case c.class == unfinished:
		if v.notCompared = hasUnreadableSecrets(c.stored.Inputs); !v.notCompared {
			v.reasons = append(v.reasons, "an earlier deployment has yet to create or change it")
		}
	}
	if len(c.stored.Drifted) > 0 && !c.gone && len(changes) > 0 {
		v.reasons = append(v.reasons, "it was changed outside Lumi: "+strings.Join(c.stored.Drifted, ", "))
	}
	sureUpdate, sureReplace := false, false
	for _, change := range changes {
		// A reference to a resource known to be different is certain to have changed.
		because, sure := "", !change.Unknown
		for target := range At(checked, change.Path).References() {
			if to, ok := c.renewed[target.URN()]; ok {
				sure = sure || to.sure
				because = fmt.Sprintf("%s refers to %s, which is %s", change.Path, to.name, to.because)
			}
		}
		sureUpdate = sureUpdate || sure
		byOption := covers(c.options.Get("replaceOnChanges"), change.Path)
		switch {
		case because != "":
		case !change.Replaces && byOption:
			because = change.Path + " changes and is listed in replaceOnChanges"
		case change.Replaces && change.Unknown:
			because = change.Path + " cannot change and is not known yet"
		case change.Replaces:
			because = change.Path + " cannot change"
		}
		if because != "" {
			v.reasons = append(v.reasons, because)
		}
		if change.Replaces || byOption {
			v.paths = append(v.paths, change.Path)
			sureReplace = sureReplace || sure
		}
	}
	switch mayReplace := len(v.paths) > 0; {
	case c.asked || c.gone:
		if v.replaces = true; c.asked && !sureReplace {
			v.reasons = append(v.reasons, "requested with --replace")
		}
	case mayReplace && !sureReplace && c.old.Flag("protect"):
		v.updates, v.possible = true, !sureUpdate
		v.reasons = append(v.reasons, "it is protected: if it must be replaced after all, the deployment fails")
	case mayReplace:
		v.replaces, v.possible = true, !sureReplace
	case c.class == unfinished, c.class == differing && (len(changes) > 0 || !expr.IsKnown(c.inputs)):
		v.updates, v.possible = true, !sureUpdate
	}
	return v
}

// hasUnreadableSecrets reports whether stored inputs contain secrets that cannot be read without the key. These appear
// as unknown values, whereas the unknown inputs of an earlier plan are references.
func hasUnreadableSecrets(inputs lumigl.Value) bool { return holds(inputs, lumigl.Value.IsUnknown) }
