// Package secrets measures how the cost of a call grows with the number of secrets in lists, in maps and under keys
// that are not identifiers: from 1,000 to 8,000, the growth is about 8 where the work is linear, and 64 where it is
// quadratic.
package secrets
