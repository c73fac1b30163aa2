package console

import (
	"errors"
	"sync"
)

// ErrUnchanged means that the user declined a prompt.
var ErrUnchanged = errors.New("nothing was changed")

// Writing is locked while a file is being replaced. It is global because signals are.
var Writing sync.Mutex

// Exit codes.
const (
	ExitOK        = 0 // success
	ExitWrong     = 1 // a problem was found; its meaning depends on the command
	ExitFailed    = 2 // the command failed
	ExitAsks      = 3 // a deployment is waiting for an answer or a key
	ExitResumable = 4 // a deployment was interrupted or is waiting
)

// ErrWrong exits with [ExitWrong] without printing anything more.
var ErrWrong = errors.New("a problem was found")

// ErrFailed exits with [ExitFailed] without printing anything more.
var ErrFailed = errors.New("the command failed")

// ErrAsks and ErrResumable exit with their codes without printing anything more.
var (
	ErrAsks      = errors.New("a deployment needs an answer")
	ErrResumable = errors.New("a deployment can be resumed")
)
