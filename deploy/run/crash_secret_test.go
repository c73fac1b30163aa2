//go:build linux || darwin

package run_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// secretProgram contains secrets in inputs, including one that becomes an output; in an input that only the provider
// declares as secret; in the configuration; in a provided value; and in an input quoted by the error of a call.
var secretProgram = strings.NewReplacer("'secret'", fmt.Sprintf("%q: %q, \"value\"", wire.Signature, wire.Secret),
	"urn:", "urn:lumi:dev::a:index::").Replace(`{
  "package": "a",
  "configuration": {"sim": {"login": {'secret': "logïn-of-the-cloud"}}},
  "resources": {
    "urn:sim:index:Net::a": {"type": "sim:index:Net", "properties": {
      "name": "a", "zone": "plainly-visible", "password": {'secret': "pass\"word\\of <a>"}}},
    "urn:sim:index:Disk::b": {"type": "sim:index:Disk", "properties": {
      "name": "b", "at": {"#ref": "urn:sim:index:Net::a", "property": "key"}, "size": {'secret': 918273645546372}}},
    "urn:sim:index:Key::c": {"type": "sim:index:Key", "properties": {
      "name": "c", "password": {'secret': "quoted-by-an-error"}, "fail": "quote"}},
    "urn:sim:index:Net::d": {"type": "sim:index:Net", "properties": {"name": "d", "password": "declared-by-the-provider"}},
    "urn:lumi:index:Module::a": {"type": "lumi:index:Module", "properties": {"provides": {
      "token": {"type": "string", "value": {'secret': "given-to-other-modules"}}}}}
  }
}`)

// secrets lists the secrets in the program. Each output contains an input.
var secrets = []string{
	"logïn-of-the-cloud", `pass"word\of <a>`, "918273645546372", "quoted-by-an-error", "given-to-other-modules",
	"declared-by-the-provider",
}

// forms returns the forms in which a text may be stored: plain, JSON, hexadecimal, and base64 at each offset.
func forms(text string) (all []string) {
	for _, escape := range []bool{false, true} {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(escape)
		if err := e.Encode(text); err != nil {
			panic(err)
		}
		all = append(all, strings.Trim(b.String(), "\"\n"))
	}
	all = append(all, text, hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text))), fmt.Sprintf("%q", text))
	for shift := range 3 {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			encoded := encoding.EncodeToString([]byte(strings.Repeat("x", shift) + text + "xxx"))
			all = append(all, encoded[4:len(encoded)-8]) // without the parts that depend on adjacent bytes
		}
	}
	return all
}

// A deployment's secrets are never stored or shown in plain text: not during calls, after a failure, or after its end.
func TestSecretsNotStored(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.must(os.WriteFile(s.program(), []byte(secretProgram), 0o600))
	all := map[string][]byte{}
	collect := func(when string) {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			text, err := os.ReadFile(s.db() + suffix)
			s.must(err)
			all[when+suffix] = text
		}
		all[when+" backup"] = s.backup()
	}
	var events []store.Event
	s.key, s.live = secret.NewKey(), func(e store.Event) { events = append(events, e) }
	s.Before, s.hook = "Create b", func() { collect("before a call") }
	d, err := s.drive(t.Context(), s.here())
	s.must(err)
	want := `urn:lumi:dev::a:index::sim:index:Key::c: the cloud does not like (secret), that is "(secret)"`
	if d.State != store.Failed || d.Message != want {
		t.Errorf("deployment ended with %s %s, want FAILED %s", d.State, d.Message, want)
	}
	collect("failed")
	s.Number = 2
	s.must(os.WriteFile(s.program(), []byte(strings.Replace(secretProgram, `"fail": "quote"`, `"fail": "no"`, 1)), 0o600))
	s.finish()
	collect("done")
	shown, err := json.Marshal(events)
	s.must(err)
	all["events"] = shown
	all["events as text"] = fmt.Appendf(nil, "%v", events)
	for where := range all {
		for _, text := range secrets {
			for _, form := range forms(text) {
				if at := bytes.Index(all[where], []byte(form)); at >= 0 {
					t.Errorf("%s contains the secret %q in %q", where, form, all[where][max(0, at-200):min(len(all[where]), at+50)])
				}
			}
		}
	}
	for _, where := range []string{"before a call-wal", "before a call backup", "failed backup", "done backup"} {
		if !bytes.Contains(all[where], []byte("plainly-visible")) {
			t.Errorf("%s does not contain the plain property", where)
		}
	}
	if !bytes.Contains(shown, []byte("does not like")) {
		t.Errorf("events do not contain the error of the call: %s", shown)
	}
}
