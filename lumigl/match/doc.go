// Package match recognizes resources in another graph under different keys, and hashes values. Diffs and plans share
// it, and therefore the same notion of equality.
package match
