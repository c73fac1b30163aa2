package feature

// Pool_ is pool, for the runtime's tests.
type Pool_ = pool
