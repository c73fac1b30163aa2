package workspace

import (
	"errors"
	"fmt"
	"os"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"golang.org/x/term"
)

// askPassphrase asks for the passphrase of the environment, twice for a new one. What is typed is not shown.
func (s *Session) askPassphrase(isNew bool) (string, error) {
	if !isNew {
		return s.readPassphrase(fmt.Sprintf("Passphrase of environment %s: ", s.Environment.Name))
	}
	fmt.Fprintf(s.Stderr, "Secrets in the state of environment %s are encrypted with a passphrase.\n", s.Environment.Name)
	first, err := s.readPassphrase("New passphrase: ")
	if err != nil || first == "" {
		return "", err
	}
	second, err := s.readPassphrase("The same again: ")
	if err == nil && first != second {
		err = errors.New("the two differ")
	}
	return first, err
}

func (s *Session) readPassphrase(prompt string) (string, error) {
	file, ok := s.Stdin.(*os.File)
	if !ok {
		return "", errors.New("standard input is not a terminal")
	}
	fmt.Fprint(s.Stderr, prompt)
	before, err := term.GetState(int(file.Fd()))
	if err != nil {
		return "", err
	}
	defer s.OnInterrupt(func() { // The terminal would stay silent.
		_ = term.Restore(int(file.Fd()), before)
		fmt.Fprintln(s.Stderr)
		os.Exit(console.ExitFailed)
	})()
	text, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(s.Stderr)
	return string(text), err
}
