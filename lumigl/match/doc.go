// Package match recognizes resources that have another key in each of two graphs, and hashes values. Diffs and plans
// both use it, so that they agree on equality.
package match
