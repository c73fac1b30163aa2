// Package match recognizes resources in another graph although their keys differ, and hashes values. Diffs and plans
// share it, and with it the notion of equality.
package match
