package lumirpc_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "accept the protocol as it is now")

// The wire format must not change, since engines and plugins may have different versions. 'make golden' adds new
// declarations.
func TestBreaking(t *testing.T) {
	const file = "testdata/wire.txt"
	now := slices.Concat(wire(lumirpc.File_lumirpc_provider_proto), wire(lumirpc.File_lumirpc_provisioner_proto))
	slices.Sort(now)
	if *update {
		must.Do(t, os.WriteFile(file, []byte(strings.Join(now, "\n")+"\n"), 0o644))
	}
	known := strings.Split(strings.TrimSpace(string(must.Get(os.ReadFile(file))(t))), "\n")
	for _, line := range known {
		if !slices.Contains(now, line) {
			t.Errorf("%s: missing or changed; increment the protocol version if intended", line)
		}
	}
	for _, line := range now {
		if !slices.Contains(known, line) {
			t.Errorf("%s: new declaration; run 'make golden'", line)
		}
	}
}

// wire returns a line for each property of the declarations that generated code or the wire format depends on.
func wire(file protoreflect.FileDescriptor) []string {
	lines := messages(file.Messages())
	for i := range file.Services().Len() {
		methods := file.Services().Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			output := string(m.Output().FullName())
			if m.IsStreamingServer() {
				output = "stream " + output
			}
			lines = append(lines, fmt.Sprintf("rpc %s(%s) %s", m.FullName(), m.Input().FullName(), output))
		}
	}
	slices.Sort(lines)
	return lines
}

func messages(all protoreflect.MessageDescriptors) []string {
	var lines []string
	for i := range all.Len() {
		m := all.Get(i)
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			kind := f.Kind().String()
			if f.Message() != nil {
				kind = string(f.Message().FullName())
			}
			if f.Enum() != nil {
				kind = string(f.Enum().FullName())
			}
			line := fmt.Sprintf("%s %s = %d %s", f.FullName(), kind, f.Number(), f.Cardinality())
			if one := f.ContainingOneof(); one != nil {
				line += " of " + string(one.Name())
			}
			lines = append(lines, line)
		}
		for j := range m.Enums().Len() {
			values := m.Enums().Get(j).Values()
			for k := range values.Len() {
				lines = append(lines, fmt.Sprintf("%s = %d", values.Get(k).FullName(), values.Get(k).Number()))
			}
		}
		lines = append(lines, messages(m.Messages())...)
	}
	return lines
}
