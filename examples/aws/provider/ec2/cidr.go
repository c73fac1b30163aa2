package ec2

import (
	"net/netip"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// checkBlock says whether Amazon would take a text as a block of addresses. It refuses also what Amazon would take and
// then store differently.
func checkBlock(path lumi.Path, block string) error {
	prefix, err := netip.ParsePrefix(block)
	if err != nil {
		return lumi.Faultf(path, "%q is no block of addresses such as 10.0.0.0/16", block)
	}
	if prefix != prefix.Masked() {
		return lumi.Faultf(path, "%s has digits beyond its /%d: write %s", block, prefix.Bits(), prefix.Masked())
	}
	return nil
}

// overlap reports whether two blocks have addresses in common. One that is not known yet may.
func overlap(a, b string) bool {
	first, err1 := netip.ParsePrefix(a)
	second, err2 := netip.ParsePrefix(b)
	return err1 != nil || err2 != nil || first.Overlaps(second)
}

// checkNetworkBlock checks the addresses of a network or of a part of one.
func checkNetworkBlock(path lumi.Path, block string) error {
	if err := checkBlock(path, block); err != nil {
		return err
	}
	prefix := netip.MustParsePrefix(block)
	if !prefix.Addr().Is4() || prefix.Bits() < 16 || prefix.Bits() > 28 {
		return lumi.Faultf(path, "%s is no block of IPv4 addresses between /16 and /28", block)
	}
	return nil
}
