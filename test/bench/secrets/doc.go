// Package secrets measures how the cost of a call grows with the number of secrets in lists, in maps, and under keys that
// are not identifiers. From 1,000 to 8,000 secrets, a linear cost grows about 8-fold, and a quadratic one 64-fold.
package secrets
