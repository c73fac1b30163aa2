package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/program"
	"github.com/lumi-idl/lumi/deploy/sealed"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
)

// RunWithoutStore configures c to call do with an environment, which need not exist. The session has no store.
func RunWithoutStore(con *console.Console, c *cobra.Command, do func(context.Context, *Session, []string) error) *cobra.Command {
	var f Flags
	f.Add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := withoutStore(con, f.Environment)
		if err != nil {
			return err
		}
		return do(c.Context(), s, args)
	}
	return c
}

func withoutStore(con *console.Console, name string) (*Session, error) {
	w, err := Find()
	if err != nil {
		return nil, err
	}
	name, err = EnvironmentName(w, name)
	return &Session{Console: con, Workspace: w, Environment: store.Environment{Name: name}}, err
}

// CompleteSealed completes the names in the secret configuration.
func CompleteSealed(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	given, _ := c.Flags().GetString("environment")
	if s, err := withoutStore(nil, given); err == nil && len(args) == 0 {
		if file, err := s.Sealed(); err == nil {
			names = file.Names()
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// Modules returns the names of the workspace's modules or, if it has none, its package.
func (s *Session) Modules() []string {
	if names := s.Workspace.Names(); len(names) > 0 {
		return names
	}
	return []string{s.Workspace.Package}
}

// CheckSetting returns an error unless name is the name of a setting: KEY, or MODULE.KEY with a module of the workspace.
func (s *Session) CheckSetting(name string) error {
	module, _, ok := lumiyaml.CutName(name)
	switch {
	case !ok:
		return console.Misused("malformed name %q: must be KEY or MODULE.KEY", name)
	case module != "" && !slices.Contains(s.Modules(), module):
		return fmt.Errorf("%s has no module %s; %s", s.Workspace.File, module, suggest.Instead(module, s.Modules()))
	case slices.Contains(s.Modules(), name):
		return console.Misused("%s is a module: use %[1]s.KEY", name)
	}
	return nil
}

// Sealed returns the environment's secret configuration, which it reads only once.
func (s *Session) Sealed() (f *sealed.File, err error) {
	if s.sealed == nil {
		s.sealed, err = sealed.Read(s.Folder(), s.Environment.Name)
	}
	return s.sealed, err
}

// WriteSealed writes the secret configuration returned by [Session.Sealed].
func (s *Session) WriteSealed() error {
	console.Writing.Lock()
	defer console.Writing.Unlock()
	return s.sealed.Write()
}

// Settings returns the settings that apply to a module, or the shared ones if module is "", sorted by key. Sealed entries
// override Lumi.yaml, and among them, a module's own entries override shared ones. Settings that are sealed or printed by a
// command have no value.
func (s *Session) Settings(module string) ([]lumiyaml.Setting, error) {
	file, err := s.Sealed()
	if err != nil {
		return nil, err
	}
	all := map[string]lumiyaml.Setting{}
	for _, one := range s.Workspace.Config(s.Environment.Name, module) {
		all[one.Key] = one
	}
	for _, owner := range []string{"", module} {
		for _, e := range file.Entries {
			if of, key, _ := lumiyaml.CutName(e.Name); of == owner {
				all[key] = lumiyaml.Setting{Key: key, Own: of != "", Secret: true, File: file.Path, Line: e.Line, Column: e.Column, From: of}
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b lumiyaml.Setting) int { return cmp.Compare(a.Key, b.Key) }), nil
}

// Config returns the settings that apply to a module with their values. It opens sealed ones with key, which is nil if the
// environment has none, or with an age identity, and runs commands. It returns a *[secret.KeyError] if a key is missing.
func (s *Session) Config(ctx context.Context, key *secret.Key, module string) ([]lumiyaml.Setting, error) {
	all, err := s.Settings(module)
	if err != nil {
		return nil, err
	}
	return all, s.reveal(ctx, key, all)
}

// ConfigureProviders adds the configurations of providers in Lumi.yaml to desired state.
func (s *Session) ConfigureProviders(ctx context.Context, desired *lumigl.Snapshot) error {
	return program.Configure(desired, s.Workspace.Providers(s.Environment.Name), func(all []lumiyaml.Setting) error {
		return s.reveal(ctx, nil, all)
	})
}

// reveal sets the missing values in all, which are secrets. It returns all errors in source order, sealed values first,
// except that it stops at the first missing key, before it runs commands, and at an interrupt.
func (s *Session) reveal(ctx context.Context, key *secret.Key, all []lumiyaml.Setting) error {
	var missing []*lumiyaml.Setting
	for i := range all {
		if all[i].Value == nil {
			missing = append(missing, &all[i])
		}
	}
	slices.SortFunc(missing, func(a, b *lumiyaml.Setting) int {
		if (a.Exec == "") != (b.Exec == "") {
			return cmp.Compare(a.Exec, b.Exec) // no command runs if a key is missing
		}
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	var wrong []error
	for _, one := range missing {
		text, err := s.value(ctx, key, *one)
		if _, ok := errors.AsType[*secret.KeyError](err); ok || errors.Is(err, context.Canceled) {
			return err
		}
		wrong = append(wrong, err)
		one.Value, _ = json.Marshal(text) // a string can always be encoded
		one.Exec, one.Secret = "", true
	}
	return errors.Join(wrong...)
}

// value returns the value of a sealed setting, or the output of a setting's command, which runs only once in a session.
func (s *Session) value(ctx context.Context, key *secret.Key, one lumiyaml.Setting) (string, error) {
	if one.Exec == "" {
		return s.sealed.Open(strings.TrimPrefix(one.From+"."+one.Key, "."), key)
	}
	if text, ok := s.outputs[one.Exec]; ok {
		return text, nil
	}
	s.Doing("running the command of %s", one.Key)
	ctx, release := s.Interruptible(ctx)
	defer release()
	text, err := program.Output(ctx, one.Exec, s.Folder(), s.Stderr)
	if err != nil {
		return "", fmt.Errorf("%s: %w", one, err)
	}
	if s.outputs == nil {
		s.outputs = map[string]string{}
	}
	s.outputs[one.Exec] = text
	return text, nil
}

// Secret returns the setting called KEY or MODULE.KEY, which must be sealed or printed by a command. It needs no key.
func (s *Session) Secret(name string) (lumiyaml.Setting, error) {
	if err := s.CheckSetting(name); err != nil {
		return lumiyaml.Setting{}, err
	}
	module, key, _ := lumiyaml.CutName(name)
	all, err := s.Settings(module)
	i := slices.IndexFunc(all, func(one lumiyaml.Setting) bool { return one.Key == key && one.Value == nil })
	if i < 0 || err != nil {
		return lumiyaml.Setting{}, cmp.Or(err, fmt.Errorf(
			"environment %s has no secret %s: set it with 'lumi config set --secret %[2]s --environment=%[1]s'", s.Environment.Name, name))
	}
	return all[i], nil
}

// OpenSecret returns the value of a setting returned by [Session.Secret].
func (s *Session) OpenSecret(ctx context.Context, one lumiyaml.Setting) (string, error) {
	var key *secret.Key
	if one.Exec == "" {
		var err error
		if key, err = s.Key(ctx); err != nil {
			return "", err
		}
	}
	return s.value(ctx, key, one)
}
