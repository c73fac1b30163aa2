package lumi_test

import (
	"errors"
	"strings"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/must"
	feature "github.com/lumi-idl/lumi/test/testprovider"
)

func TestLimits(t *testing.T) {
	const right = `{
		"port": 80, "ratio": 0.25, "big": 1e6, "label": "ab", "home": "https://example.com", "hosts": ["a", "b"],
		"code": "\"123,x", "shares": {"a": [0, 100], "b": []}, "inner": {"port": 1}
	}`
	var limited feature.Limited
	must.Do(t, lumi.Decode(bag(t, right), &limited))
	made := must.Get(lumi.Encode(&limited))(t)
	must.Do(t, lumi.Decode(made, new(feature.Limited)))
	const wrong = `{
		"port": 0, "ratio": 1, "big": 1000000.5, "label": "", "home": "here", "hosts": ["a", "B", "a"],
		"code": "hunter2", "shares": {"A": [101], "b1": [], "c": []}, "inner": {"port": 65536}
	}`
	err := lumi.Decode(bag(t, wrong), new(feature.Limited))
	invalid := new(lumi.InvalidError)
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`port: must be at least 1, found 0`,
		`ratio: must be less than 1, found 1`,
		`big: must be a multiple of 1, found 1000000.5`,
		`big: must be at most 1000000, found 1000000.5`,
		`label: must have at least 1 character, found 0`,
		`code: must match ^"\d{3},\w, found another string`,
		`home: must be a URI, found "here"`,
		`hosts[1]: must be a host name, found "B"`,
		`hosts: must have at most 2 elements, found 3`,
		`hosts: must have no equal elements, but [0] and [2] are equal`,
		`shares.A: must be a host name, found "A"`,
		`shares.A[0]: must be at most 100, found 101`,
		`shares: must have at most 2 entries, found 3`,
		`shares.A: the key must match ^[a-z]+`,
		`inner.port: must be at most 65535, found 65536`,
	}, "\n")
	if err.Error() != want {
		t.Errorf("Decode error =\n%v\nwant\n%s", err, want)
	}
	if kinds := lumi.Describe(new(feature.Limited)); kinds[0].Kind != lumi.KindNumber || kinds[6].Kind != lumi.KindList {
		t.Errorf("kinds = %v, want a number first and a list at index 6", kinds)
	}
}

func TestEncodeIgnoresLimits(t *testing.T) {
	must.Get(lumi.Encode(&feature.Limited{Port: -1}))(t)
}
