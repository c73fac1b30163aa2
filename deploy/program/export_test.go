package program

import "time"

// SetOutputTimeout sets the time limit of commands and returns a function that resets it.
func SetOutputTimeout(limit time.Duration) (reset func()) {
	standard := outputTimeout
	outputTimeout = limit
	return func() { outputTimeout = standard }
}
