package state

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

func newStateMoveCommand(con *console.Console) *cobra.Command {
	return workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "move OLD NEW",
		Short: "rename a resource in the state",
		Long: `OLD is the key of a resource, as for 'lumi state show'. NEW is a name, or a URN with the same module
and type. References are updated; the real resource does not change. Alternatively, list the old
name in the option "aliases" of the program.

It is refused while a deployment of the module, or of a module that uses it, is queued.`,
		Annotations: console.ExitCodes("the resource has the new name", "refused", console.ElseFailed),
		Example:     console.Examples("The program calls the password secret from now on.", "lumi state move password secret"),
	}, func(ctx context.Context, s *workspace.Session, args []string) error {
		return move(ctx, s, args[0], args[1])
	})
}

// open returns the key and the state of the environment.
func open(ctx context.Context, s *workspace.Session) (*secret.Key, *lumigl.Snapshot, error) {
	key, err := s.Key(ctx)
	if err != nil {
		return nil, nil, err
	}
	snapshot, err := s.Snapshot(ctx, key)
	return key, snapshot, err
}

func move(ctx context.Context, s *workspace.Session, old, name string) error {
	key, snapshot, err := open(ctx, s)
	if err != nil {
		return err
	}
	found, err := resource(s, snapshot, old)
	if err != nil {
		return err
	}
	was, _ := found.URN().Parts()
	now := was
	if now.Name = name; strings.HasPrefix(name, "urn:") {
		if now, err = urn.URN(name).Parts(); err != nil {
			return err
		}
	}
	if now.Environment != was.Environment || now.Package != was.Package || now.Type != was.Type {
		return fmt.Errorf("%s is not a URN of environment %s, module %s, and type %s", name, was.Environment, was.Package, was.Type)
	}
	to, err := urn.Format(now)
	if err != nil {
		return err
	}
	err = s.Editor(key).Edit(ctx, environment.Edit{
		Module: was.Package, Was: found.URN(), Now: to, Message: fmt.Sprintf("moved %s to %s", found.URN(), to),
		Change: func(g *graph.Graph, _ graph.Deployment) (*graph.Graph, error) { return g.Rename(found.URN(), to) },
	})
	if err != nil {
		return err
	}
	return s.Finish("%s is now %s", found.URN(), to)
}

func newStateForgetCommand(con *console.Console) *cobra.Command {
	var yes bool
	c := workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "forget KEY...",
		Short: "remove resources from the state without deleting them",
		Long: `The real resources are not deleted. If the program still declares them, the next deployment creates
new ones. KEY is as for 'lumi state show', or a resource whose deletion failed. All keys must be in
one module.

It is refused while other resources refer to them, and while a deployment of the module, or of a
module that uses it, is queued. Without a terminal, --yes is required.`,
		Annotations: console.ExitCodes("the resources are forgotten", "refused", console.ElseFailed),
		Example:     console.Examples("Leave a resource to others.", "lumi state forget index --yes"),
	}, func(ctx context.Context, s *workspace.Session, keys []string) error { return forget(ctx, s, keys, yes) })
	c.Flags().BoolVarP(&yes, "yes", "y", false, "skip the confirmation")
	return c
}

func forget(ctx context.Context, s *workspace.Session, keys []string, yes bool) error {
	key, snapshot, err := open(ctx, s)
	if err != nil {
		return err
	}
	var urns []urn.URN
	var names []string
	module := ""
	for _, one := range keys {
		found, err := resource(s, snapshot, one)
		if err != nil {
			return err
		}
		parts, _ := found.URN().Parts()
		if module != "" && parts.Package != module {
			return errors.New("the resources belong to several modules: forget the resources of one module at a time")
		}
		module = parts.Package
		urns, names = append(urns, found.URN()), append(names, parts.Name)
	}
	list := strings.Join(names, ", ")
	if err := s.Agreed(yes, fmt.Sprintf("Forget %s, without deleting anything,", list)); err != nil {
		return err
	}
	err = s.Editor(key).Edit(ctx, environment.Edit{
		Module: module, Message: "forgot " + list,
		Change: func(g *graph.Graph, _ graph.Deployment) (*graph.Graph, error) { return g.Forget(urns...) },
	})
	if err != nil {
		return err
	}
	return s.Finish("forgotten: %s", list)
}

func newStateRekeyCommand(con *console.Console) *cobra.Command {
	var former string
	c := workspace.RunInEnvironment(con, &cobra.Command{
		Use:   "rekey",
		Short: "seal the secrets of an environment with a new key",
		Long: `Generate a new data key, wrapped as configured in Lumi.yaml, and re-encrypt the state, the history,
and the sealed configuration of the environment. To wrap it differently, change "key" in Lumi.yaml
first. The new passphrase is read from LUMI_NEW_PASSPHRASE or the terminal. It is refused while a
deployment runs.`,
		Annotations: map[string]string{
			"0": "the environment has a new key", "1": "refused", "2": console.ElseFailed, "3": "a passphrase or an identity is needed",
		},
		Example: console.Examples("Change the key of the environment dev.", "lumi state rekey --environment=dev"),
	}, func(ctx context.Context, s *workspace.Session, _ []string) error { return rekey(ctx, s, former) })
	c.Flags().StringVar(&former, "old-key", "", "unwrap the old key with `CONFIG`, a former value of \"key\" in Lumi.yaml; required if the command changed")
	return c
}

func rekey(ctx context.Context, s *workspace.Session, former string) error {
	file, err := s.Sealed()
	if err != nil {
		return err
	}
	if s.Environment.Key == "" && len(file.Entries) == 0 {
		return fmt.Errorf("environment %s has no key, and so no secrets", s.Environment.Name)
	}
	to, err := s.Wrapper()
	if err != nil {
		return err
	}
	to.Changes = true
	old, err := formerKey(ctx, s, to, former)
	if err != nil {
		return err
	}
	key := secret.NewKey()
	wrapped, err := to.Wrap(ctx, key)
	if err != nil {
		return err
	}
	console.Writing.Lock() // an interrupt waits for both the file and the store
	defer console.Writing.Unlock()
	err = file.Reseal(to, old, key, func() (unchanged bool, err error) {
		err = s.Editor(old).Rekey(ctx, key, wrapped)
		return err != nil && s.Enter(ctx, workspace.Fail) == nil && s.Environment.Key != wrapped, err
	})
	if err != nil {
		return err
	}
	return s.Finish("environment %s has a new key", s.Environment.Name)
}

// formerKey returns the key of the environment, or nil if it has none. former is the value of --old-key.
func formerKey(ctx context.Context, s *workspace.Session, to *secret.Wrapper, former string) (*secret.Key, error) {
	if s.Environment.Key == "" {
		return nil, nil
	}
	from, err := to.For(s.Environment.Key)
	if former != "" {
		if from, err = secret.ParseWrapper(former); err != nil {
			return nil, console.Misused("--old-key: %s", err)
		}
	}
	if err != nil {
		return nil, err
	}
	from.Ask, from.Dir = to.Ask, to.Dir
	return from.Unwrap(ctx, s.Environment.Key)
}
