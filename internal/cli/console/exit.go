package console

import (
	"errors"
	"sync"
)

// ErrUnchanged is for what was asked and not agreed to.
var ErrUnchanged = errors.New("nothing was changed")

// Writing is locked while a file is being replaced. It is one for the whole process, as signals are.
var Writing sync.Mutex

// The exit codes.
const (
	ExitOK        = 0 // all is well
	ExitWrong     = 1 // what was looked at is not as it should be; each command says what it means by that
	ExitFailed    = 2 // the command could not do its work
	ExitAsks      = 3 // a deployment needs an answer or a key
	ExitResumable = 4 // a deployment was interrupted, or waits
)

// ErrWrong says no more than which exit code is due: what there is to say has been said.
var ErrWrong = errors.New("a problem was found")

// ErrFailed is for failures that have been said too.
var ErrFailed = errors.New("the command failed")

// ErrAsks and ErrResumable end with their exit codes what has been said.
var (
	ErrAsks      = errors.New("a deployment needs an answer")
	ErrResumable = errors.New("a deployment can be resumed")
)
