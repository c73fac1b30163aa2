package console

import (
	"errors"
	"sync"
)

// ErrUnchanged means that the user answered no to a prompt.
var ErrUnchanged = errors.New("nothing was changed")

// Writing is locked while a file is being replaced. It is global because signals are handled for the whole process.
var Writing sync.Mutex

// Exit codes of all commands.
const (
	ExitOK        = 0 // success
	ExitWrong     = 1 // a problem was found, as defined by the command
	ExitFailed    = 2 // usage or system error
	ExitAsks      = 3 // a deployment is waiting for an answer or a key
	ExitResumable = 4 // a deployment was interrupted or is waiting, and can be resumed
)

// ErrWrong makes a command exit with [ExitWrong] without printing anything else.
var ErrWrong = errors.New("a problem was found")

// ErrFailed makes a command exit with [ExitFailed] without printing anything else.
var ErrFailed = errors.New("the command failed")

// ErrAsks and ErrResumable make a command exit with [ExitAsks] or [ExitResumable] without printing anything else.
var (
	ErrAsks      = errors.New("a deployment needs an answer")
	ErrResumable = errors.New("a deployment can be resumed")
)
