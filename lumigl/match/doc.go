// Package match recognizes resources of one graph in another although their keys differ, and hashes values. Comparing and
// planning share it, so that both have the same notion of equality.
package match
