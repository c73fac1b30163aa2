// Package match finds out which resources of one graph are those of another under other keys, and hashes values, so that
// equal ones are found fast. Comparing graphs and planning share it, and with it their idea of equality.
package match
