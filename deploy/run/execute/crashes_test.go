package execute

import (
	"errors"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

// A call is given up at the third consecutive identical crash.
func TestCrashes(t *testing.T) {
	crash := func(status, output string) error {
		return lumi.Uncertain(&plugin.Error{Message: "gone", Crash: plugin.Crash{Status: status, Output: output}})
	}
	equal := crash("exit status 7", "one\nboom")
	for name, test := range map[string]struct {
		failures []error
		want     string
	}{
		"equal":          {[]error{equal, crash("exit status 7", "two\nboom"), equal}, "the plugin crashed 3 times in the same way: exit status 7\nIt wrote:\none\nboom"},
		"silent":         {[]error{crash("signal: killed", ""), crash("signal: killed", ""), crash("signal: killed", "")}, "the plugin crashed 3 times in the same way: signal: killed"},
		"another line":   {[]error{equal, equal, crash("exit status 7", "boom\nbang")}, ""},
		"another status": {[]error{equal, crash("exit status 8", "one\nboom"), equal}, ""},
		"between":        {[]error{equal, equal, errors.New("busy"), equal}, ""},
		"no crash":       {[]error{errors.New("busy"), errors.New("busy"), errors.New("busy")}, ""},
	} {
		var c crashes
		got := ""
		for _, failure := range test.failures {
			if reason := c.count(failure); reason != nil {
				got = reason.Error()
			}
		}
		expect.Equal(t, test.want, got, name)
	}
}
