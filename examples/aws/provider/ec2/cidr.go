package ec2

import (
	"net/netip"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// checkBlock returns a fault if block is not a CIDR block in canonical form. AWS accepts other forms but normalizes them.
func checkBlock(path lumi.Path, block string) error {
	prefix, err := netip.ParsePrefix(block)
	if err != nil {
		return lumi.Faultf(path, "must be a CIDR block such as 10.0.0.0/16, got %q", block)
	}
	if prefix != prefix.Masked() {
		return lumi.Faultf(path, "%s has host bits set: write %s", block, prefix.Masked())
	}
	return nil
}

// overlap reports whether two blocks overlap. It returns true if either block is unknown.
func overlap(a, b string) bool {
	first, err1 := netip.ParsePrefix(a)
	second, err2 := netip.ParsePrefix(b)
	return err1 != nil || err2 != nil || first.Overlaps(second)
}

// checkNetworkBlock returns a fault if block is not valid for a VPC or subnet.
func checkNetworkBlock(path lumi.Path, block string) error {
	if err := checkBlock(path, block); err != nil {
		return err
	}
	prefix := netip.MustParsePrefix(block)
	if !prefix.Addr().Is4() || prefix.Bits() < 16 || prefix.Bits() > 28 {
		return lumi.Faultf(path, "must be an IPv4 CIDR block from /16 to /28, got %s", block)
	}
	return nil
}
