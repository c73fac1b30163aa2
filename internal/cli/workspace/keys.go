package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"golang.org/x/term"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
)

// WorkFactor overrides the default work factor of package secret, unless it is 0. Tests set it to derive hundreds
// of keys.
var WorkFactor int

// Wrapper returns the key wrapper that Lumi.yaml configures for the environment.
func (s *Session) Wrapper() (*secret.Wrapper, error) {
	w, err := secret.ParseWrapper(cmp.Or(s.Workspace.Keys[s.Environment.Name], "passphrase"))
	if err != nil {
		return nil, fmt.Errorf("%s: environments.%s.key: %w", s.Workspace.File, s.Environment.Name, err)
	}
	w.Dir, w.WorkFactor = s.Folder(), WorkFactor
	if s.CanAsk() {
		w.Ask = s.askPassphrase
	}
	return w, nil
}

// Key returns the environment's key, or nil if it has none. If the key cannot be unwrapped, it returns a
// *[secret.KeyError].
func (s *Session) Key(ctx context.Context) (*secret.Key, error) {
	if s.Environment.Key == "" {
		return nil, nil
	}
	w, err := s.Wrapper()
	if err != nil {
		return nil, err
	}
	s.Doing("unwrapping the key of %s", s.Environment.Name)
	return w.Unwrap(ctx, s.Environment.Key)
}

// KeyIfAny is like [Session.Key], but if the key cannot be unwrapped, it prints a warning and returns nil. Doing
// describes the operation that continues without the key.
func (s *Session) KeyIfAny(ctx context.Context, doing string) (*secret.Key, error) {
	key, err := s.Key(ctx)
	if _, ok := errors.AsType[*secret.KeyError](err); ok {
		s.Say("%s without the key: %s", doing, err)
		return nil, nil
	}
	return key, err
}

// NewKey creates the first key of the environment and stores it.
func (s *Session) NewKey(ctx context.Context) (*secret.Key, error) {
	w, err := s.Wrapper()
	if err != nil {
		return nil, err
	}
	key := secret.NewKey()
	wrapped, err := w.Wrap(ctx, key)
	if err != nil {
		return nil, err
	}
	err = s.Store.Write(ctx, s.Environment.Name, func(tx store.Tx) error {
		row, err := tx.Environment(s.Environment.Name)
		if err != nil {
			return err
		}
		if row.Key != "" {
			return fmt.Errorf("another process has just given environment %s a key: try again", row.Name)
		}
		row.Key = wrapped
		s.Environment = row
		return tx.PutEnvironment(row)
	})
	return key, err
}

// askPassphrase prompts for the passphrase of the environment without echo. A new passphrase must be entered twice.
func (s *Session) askPassphrase(isNew bool) (string, error) {
	if !isNew {
		return s.ReadHidden(fmt.Sprintf("Passphrase for environment %s: ", s.Environment.Name))
	}
	fmt.Fprintf(s.Stderr, "Secrets in the state of environment %s are encrypted with a passphrase.\n", s.Environment.Name)
	first, err := s.ReadHidden("New passphrase: ")
	if err != nil || first == "" {
		return "", err
	}
	second, err := s.ReadHidden("Repeat the passphrase: ")
	if err == nil && first != second {
		err = errors.New("the passphrases do not match")
	}
	return first, err
}

// ReadHidden prompts for a line, which the terminal does not echo.
func (s *Session) ReadHidden(prompt string) (string, error) {
	file, ok := s.Stdin.(*os.File)
	if !ok {
		return "", errors.New("standard input is not a terminal")
	}
	before, err := term.GetState(int(file.Fd()))
	if err != nil {
		return "", err
	}
	defer s.OnInterrupt(func() { // turn echo on again
		_ = term.Restore(int(file.Fd()), before)
		fmt.Fprintln(s.Stderr)
		os.Exit(console.ExitFailed)
	})()
	prompted := make(chan struct{})
	go func() { // Prompt once echo is off, since a fast writer would answer before.
		defer close(prompted)
		for range 100 {
			if now, err := term.GetState(int(file.Fd())); err != nil || !reflect.DeepEqual(now, before) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		fmt.Fprint(s.Stderr, prompt)
	}()
	text, err := term.ReadPassword(int(file.Fd()))
	<-prompted
	fmt.Fprintln(s.Stderr)
	return string(text), err
}
