package program

import (
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/lumigl"
)

// handover is the standard input of lumi-program.
type handover struct {
	*workspace.Workspace
	Config []workspace.Setting `json:"config,omitempty"`
	// Providers maps configured packages to a setting without a value, to report a second configuration by the program.
	Providers map[string]workspace.Setting `json:"providers,omitempty"`
}

func placesOf(providers map[string][]workspace.Setting) map[string]workspace.Setting {
	places := map[string]workspace.Setting{}
	for pkg, settings := range providers {
		for _, s := range settings[:min(1, len(settings))] {
			s.Value = nil
			places[pkg] = s
		}
	}
	return places
}

// Values returns settings as an object, in which secrets are marked. It returns an error if a setting has a command
// instead of a value.
func Values(settings []workspace.Setting) (lumigl.Value, error) {
	var values lumigl.ObjectBuilder
	for _, s := range settings {
		if s.Exec != "" {
			return lumigl.Value{}, fmt.Errorf("%s: the output of the command is not available", s)
		}
		v, err := lumigl.Parser{}.ParseValue(string(s.Value))
		if err != nil {
			return lumigl.Value{}, fmt.Errorf("%s: the value is not valid JSON", s) // The error may quote a secret.
		}
		if s.Secret {
			v = lumigl.SecretOf(v)
		}
		values.Set(s.Key, v)
	}
	return values.Object(), nil
}

// Configure adds configurations of providers to desired state, by package, if it has resources of the package. It calls
// complete, which sets missing values, for each configuration that it adds, and returns an error if the desired state
// already contains a configuration of the package.
func Configure(desired *lumigl.Snapshot, providers map[string][]workspace.Setting, complete func([]workspace.Setting) error) error {
	given := desired.Field("configuration")
	all := given
	for v := range desired.Vertices() {
		pkg := v.Type.Package()
		switch {
		case len(providers[pkg]) == 0:
			continue
		case given.Get(pkg).Exists():
			return fmt.Errorf("%s: %s is also configured by the program; remove one of the two", providers[pkg][0], pkg)
		case all.Get(pkg).Exists():
			continue
		}
		if err := complete(providers[pkg]); err != nil {
			return err
		}
		values, err := Values(providers[pkg])
		if err != nil {
			return err
		}
		all = all.With(pkg, values)
	}
	if all.Exists() {
		isOld := func(m lumigl.Member) bool { return m.Key == "configuration" }
		desired.Fields = append(slices.DeleteFunc(desired.Fields, isOld), lumigl.Member{Key: "configuration", Value: all})
	}
	return nil
}
