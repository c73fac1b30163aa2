package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lumi-idl/lumi/internal/term"
)

// Confirmed asks the user for confirmation. It returns [ErrUnchanged] unless the answer is yes.
func (con *Console) Confirmed(what string) error {
	answer, err := con.ask(what + "? [y/N] ")
	if err == nil && !isYes(answer) {
		err = ErrUnchanged
	}
	return err
}

func isYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// CanAsk reports whether the user can be prompted: standard input and standard error are terminals, and --json is not
// set.
func (con *Console) CanAsk() bool { return con.StdinIsTerminal && con.Err.Terminal && !con.JSON }

// ask prints a question on standard error and returns the line entered, or "" at the end of input.
func (con *Console) ask(question string) (string, error) {
	if err := con.Stdout.Flush(); err != nil {
		return "", err
	}
	fmt.Fprint(con.Stderr, question)
	answer, err := bufio.NewReader(con.Stdin).ReadString('\n')
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(con.Stderr)
		err = nil
	}
	return answer, err
}

// Sure asks for confirmation unless yes is set. It returns [ErrUnchanged] unless the answer is yes.
func (con *Console) Sure(yes bool, what string) error {
	switch {
	case yes:
		return nil
	case !con.CanAsk():
		return Misused("cannot ask for confirmation without a terminal: use --yes")
	}
	return con.Confirmed(term.Visible(what))
}
