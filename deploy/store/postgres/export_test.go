package postgres

import "time"

// With returns options for tests: the isolation level of writes, or measures to leave out.
func With(isolation string, noLock, noStatus bool) Options {
	return Options{isolation: isolation, noLock: noLock, noStatus: noStatus}
}

// WithIdle returns options with the time after which the server ends a transaction of a stopped process.
func WithIdle(d time.Duration) Options { return Options{idle: d} }
