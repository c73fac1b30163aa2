package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// canAsk reports whether the user can be asked: standard input and standard error are a terminal.
func (e *console) canAsk() bool { return e.in && e.err.Terminal && !e.json }

// ask asks a question on standard error, and returns the line that is the answer. At the end of input it is empty.
func (e *console) ask(question string) (string, error) {
	if err := e.stdout.Flush(); err != nil {
		return "", err
	}
	fmt.Fprint(e.stderr, question)
	answer, err := bufio.NewReader(e.stdin).ReadString('\n')
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(e.stderr)
		err = nil
	}
	return answer, err
}

// askPassphrase asks for the passphrase of the environment, twice for a new one. What is typed is not shown.
func (s *site) askPassphrase(isNew bool) (string, error) {
	if !isNew {
		return s.readPassphrase(fmt.Sprintf("Passphrase of environment %s: ", s.row.Name))
	}
	fmt.Fprintf(s.stderr, "Secrets in the state of environment %s are encrypted with a passphrase.\n", s.row.Name)
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

func (s *site) readPassphrase(prompt string) (string, error) {
	file, ok := s.stdin.(*os.File)
	if !ok {
		return "", errors.New("standard input is not a terminal")
	}
	fmt.Fprint(s.stderr, prompt)
	before, err := term.GetState(int(file.Fd()))
	if err != nil {
		return "", err
	}
	defer s.onInterrupt(func() { // The terminal would stay silent.
		_ = term.Restore(int(file.Fd()), before)
		fmt.Fprintln(s.stderr)
		os.Exit(exitFailed)
	})()
	text, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(s.stderr)
	return string(text), err
}
