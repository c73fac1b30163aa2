//go:build !linux

package sqlite

// network always returns "", since network file systems cannot be detected on this platform.
func network(string) string { return "" }
