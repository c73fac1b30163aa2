package wire

import (
	"os"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestWire(t *testing.T) {
	manual := must.Get(os.ReadFile("../../docs/protocol.md"))(t)
	for constant, want := range map[string]string{
		Signature: "4dabf18193072939515e22adb298388d",
		Secret:    "1b47061264138c4ac30d75fd1eb44270",
		Asset:     "c44067f5952c0a294b673a41bacd8c17",
		Archive:   "0def7320c3a5731c473e5ecbe6d01bc7",
		Unknown:   "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
	} {
		if constant != want || !strings.Contains(string(manual), `"`+want+`"`) {
			t.Errorf("constant = %s, want %s, which the manual must contain", constant, want)
		}
	}
}
