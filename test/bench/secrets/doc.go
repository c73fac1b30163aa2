// Package secrets measures the cost of a call by the number of secrets in lists, in maps and under keys that are not
// identifiers. From 1,000 to 8,000 secrets, it grows by a factor of about 8 if it is linear, and 64 if it is quadratic.
package secrets
