package state

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// newConfigCommand returns the group of commands for configuration. Without a subcommand, it lists the configuration.
func newConfigCommand(con *console.Console) *cobra.Command {
	c := workspace.RunWithoutStore(con, &cobra.Command{
		Use:   "config [COMMAND...]",
		Short: "list the configuration of programs, and set secrets",
		Long: `Programs read configuration from Lumi.yaml, and secrets from config/NAME.sealed.json next to it, where
NAME is the environment. Without a command, it lists the configuration, as 'lumi config list' does.
docs/configuration.md is a guide.`,
		Annotations: console.ExitCodes("done", "", console.ElseFailed),
	}, func(_ context.Context, s *workspace.Session, args []string) error {
		if len(args) > 0 {
			return pflag.ErrHelp // which reports an unknown command
		}
		return listConfig(s)
	})
	console.AddCommands(c, "Commands", newConfigListCommand(con), newConfigSetCommand(con), newConfigDeleteCommand(con))
	return c
}

func newConfigListCommand(con *console.Console) *cobra.Command {
	return workspace.RunWithoutStore(con, &cobra.Command{
		Use:   "list",
		Short: "list what applies to each module, and from where",
		Long: `It needs no key and runs no commands; secrets are masked. With --json, it prints one object per
module and key, one per line.`,
		Annotations: console.ExitCodes("the configuration is listed", "", console.ElseFailed),
		Example:     console.Examples("What applies in the environment prod?", "lumi config list --environment=prod"),
	}, func(_ context.Context, s *workspace.Session, _ []string) error { return listConfig(s) })
}

// jsonSetting is the JSON form of a setting that applies to a module. Secrets have no value.
type jsonSetting struct {
	Module string          `json:"module"`
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value,omitempty"`
	Secret bool            `json:"secret,omitempty"`
	From   string          `json:"from,omitempty"` // the object that contains the setting
	File   string          `json:"file"`
	Line   int             `json:"line"`
	Column int             `json:"column"`
}

func listConfig(s *workspace.Session) error {
	var all []jsonSetting
	for _, module := range s.Modules() {
		settings, err := s.Settings(module)
		if err != nil {
			return err
		}
		for _, one := range settings {
			if short, err := filepath.Rel(s.Folder(), one.File); err == nil {
				one.File = filepath.ToSlash(short)
			}
			all = append(all, jsonSetting{module, one.Key, one.Value, one.Secret || one.Exec != "", one.From, one.File, one.Line, one.Column})
		}
	}
	head := []string{"MODULE", "KEY", "VALUE", "FROM"}
	return console.PrintList(s.Console, all, "No configuration.", head, func(one jsonSetting) []string {
		value := string(one.Value)
		if one.Secret {
			value = document.Masked
		}
		return []string{one.Module, one.Key, value, fmt.Sprintf("%s:%d:%d", one.File, one.Line, one.Column)}
	})
}

func newConfigSetCommand(con *console.Console) *cobra.Command {
	var isSecret bool
	c := workspace.RunWithoutStore(con, &cobra.Command{
		Use:   "set NAME",
		Short: "set a secret value in the sealed configuration",
		Long: `NAME is MODULE.KEY, or KEY for a value that all modules share. The value is read from standard input,
without a trailing newline, or from a hidden prompt on a terminal. It is sealed for the age
recipients in Lumi.yaml, which needs no identity, or else with the key of the environment. Plain
values belong in Lumi.yaml.`,
		Annotations: map[string]string{"0": "the value is set", "2": console.ElseFailed, "3": "a key is needed"},
		Example:     console.Examples("Generate a password.", "openssl rand -hex 16 | lumi config set --secret password --environment=dev"),
	}, func(ctx context.Context, s *workspace.Session, args []string) error {
		if !isSecret {
			return console.Misused("use --secret, or write a plain value in Lumi.yaml, under config")
		}
		return setSecret(ctx, s, args[0])
	})
	c.Flags().BoolVar(&isSecret, "secret", false, "seal the value; required")
	c.ValidArgsFunction = workspace.CompleteSealed
	return c
}

func setSecret(ctx context.Context, s *workspace.Session, name string) error {
	if err := s.CheckSetting(name); err != nil {
		return err
	}
	if strings.HasPrefix(s.Workspace.Keys[s.Environment.Name], "age:") {
		return seal(s, nil, name)
	}
	return workspace.WithEnvironment(ctx, s.Console, s.Environment.Name, workspace.Create, func(s *workspace.Session) error {
		key, err := s.Key(ctx)
		if err == nil && key == nil {
			key, err = s.NewKey(ctx)
		}
		if err != nil {
			return err
		}
		return seal(s, key, name)
	})
}

// seal reads a value from the user and seals it. key is nil if there are age recipients.
func seal(s *workspace.Session, key *secret.Key, name string) error {
	file, err := s.Sealed()
	if err != nil {
		return err
	}
	w, err := s.Wrapper()
	if err != nil {
		return err
	}
	text, err := secretValue(s, name)
	if err != nil {
		return err
	}
	if err := file.Set(name, text, w, key); err != nil {
		return err
	}
	if err := s.WriteSealed(); err != nil {
		return err
	}
	return s.Finish("%s is set in %s", name, file.Path)
}

// secretValue returns a value from a hidden prompt or from standard input.
func secretValue(s *workspace.Session, name string) (text string, err error) {
	switch {
	case s.CanAsk():
		text, err = s.ReadHidden(fmt.Sprintf("Value of %s in %s: ", name, s.Environment.Name))
	case s.StdinIsTerminal:
		return "", console.Misused("cannot ask for the value without a terminal: pipe it to standard input")
	default:
		var data []byte
		data, err = io.ReadAll(io.LimitReader(s.Stdin, secret.MaxText+3)) // more than Set accepts
		text = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	}
	if err == nil && text == "" {
		err = fmt.Errorf("the value of %s is empty", name)
	}
	return text, err
}

func newConfigDeleteCommand(con *console.Console) *cobra.Command {
	c := workspace.RunWithoutStore(con, &cobra.Command{
		Use:         "delete NAME",
		Short:       "delete a secret value from the sealed configuration",
		Long:        `NAME is as for 'lumi config set'. It needs no key.`,
		Annotations: console.ExitCodes("the value is deleted", "", console.ElseFailed),
		Example:     console.Examples("Delete a value.", "echo hunter2 | lumi config set --secret pin && lumi config delete pin"),
	}, func(_ context.Context, s *workspace.Session, args []string) error {
		file, err := s.Sealed()
		if err != nil {
			return err
		}
		if !file.Delete(args[0]) {
			return fmt.Errorf("%s has no %s; %s", file.Path, args[0], suggest.Instead(args[0], file.Names()))
		}
		if err := s.WriteSealed(); err != nil {
			return err
		}
		return s.Finish("%s is deleted from %s", args[0], file.Path)
	})
	c.ValidArgsFunction = workspace.CompleteSealed
	return c
}
