package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestConfiguration(t *testing.T) {
	t.Parallel()
	x := urnOf("random:index:Pet", "x")
	ref := func(property string) provisioner.Reference { return provisioner.Reference{URN: x, Property: property} }
	folder := resource("local:index:File::folder:1", provisioner.Properties{"path": "/tmp/a", "key": provisioner.Secret{Value: "hunter2"}})
	folder.ID = "file-1"
	outside := func(property string) provisioner.Reference {
		return provisioner.Reference{URN: folder.URN, Property: property}
	}
	for name, test := range map[string]struct {
		settings string
		change   *provisioner.Change
	}{
		"values": {"", change(nil, resources{
			resource("aws:s3:Bucket::x:1", provisioner.Properties{
				"bucketPrefix": "a", "tags": map[string]any{"costCenter": "${x}", "${k}": nil}, "n": []any{1.0, 1e21, -0.5, true}, "ipv4CIDRBlock": "%{ if }$",
			}),
		})},
		"expressions": {"", change(nil, resources{
			pet(1, nil),
			resource("local:index:File::a/b c:1", provisioner.Properties{
				"filename":      provisioner.Interpolation{Parts: []any{"cost: $", ref("id"), "\n\"\\\x01 ${", 5.0}},
				"content":       provisioner.JSON{Value: map[string]any{"b": []any{ref("length"), nil}, "a": "<\"$", "c": map[string]any{}}},
				"sourceHash":    provisioner.Part{Of: ref("keepersMap"), Path: `a[0]["b c"].d`},
				"first":         provisioner.Part{Of: ref("list"), Path: "[0]"},
				"object":        map[string]any{"id": ref(""), "urn": ref("urn")},
				"inExpressions": provisioner.Part{Of: map[string]any{"a": []any{ref("id"), false}}, Path: "a[1]"},
			}, x),
		})},
		"secrets": {"", change(nil, resources{
			pet(1, provisioner.Properties{
				"keepers": provisioner.Secret{Value: map[string]any{"a": "hunter2-${"}},
				"prefix":  provisioner.Secret{Value: provisioner.Interpolation{Parts: []any{"hunter2", outside("id")}}},
				"text":    provisioner.Interpolation{Parts: []any{"key=", outside("key")}},
			}),
		})},
		"context": {"", change(nil, resources{
			pet(1, provisioner.Properties{"prefix": outside("path"), "id": outside("id"), "both": provisioner.Interpolation{Parts: []any{outside("path"), outside("url")}}}),
		})},
		"settings": {`
types: {"random:index:Pet": google_pet, "test:index:Data": terraform_data}
providers:
  google: {source: corp/google, version: "~> 5.0", configuration: {project: p, region: oslo}}
  beta: {source: corp/beta}
  unused: {source: corp/unused}
backend: {s3: {bucket: states, key: "{environment}/{module}.tfstate", tags: ["{module}"]}}
`, change(nil, resources{
			pet(1, provisioner.Properties{"provider": "beta.west"}), resource("test:index:Data::x:1", nil),
		})},
		"empty": {"", change(resources{pet(1, nil)}, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, settingsFile)
			must.Do(t, os.WriteFile(file, []byte(test.settings), 0o600))
			s := must.Get(readSettings(file))(t)
			test.change.Context = resources{folder}
			w := must.Get(newWriter(s, test.change))(t)
			w.planning = true
			must.Do(t, w.write(dir))
			var all strings.Builder
			for _, name := range []string{configurationFile, variablesFile} {
				fmt.Fprintf(&all, "-- %s --\n%s", name, must.Get(os.ReadFile(filepath.Join(dir, name)))(t))
			}
			golden.File(t, filepath.Join("testdata", name+".txtar"), all.String())
		})
	}
}

func TestConfigurationErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		r    *provisioner.Resource
		want string
	}{
		{pet(1, provisioner.Properties{"forEach": []any{}}), "x: forEach cannot be set: create one resource for each element"},
		{pet(1, provisioner.Properties{"dependsOn": []any{}}), "x: dependsOn cannot be set: use the dependsOn option"},
		{pet(1, provisioner.Properties{"aB": 1.0, "a_b": 2.0}), "x: two properties map to a_b in OpenTofu: remove a_b"},
		{pet(1, provisioner.Properties{"a": []any{provisioner.Reference{URN: "urn:x", Property: "y"}}}), "x: a: [0]: y of urn:x is not known"},
		{resource("random:index:Ünit::x:1", nil), "cannot derive an OpenTofu type from random:index:Ünit: add it to" +
			` opentofu.yaml, as types: {"random:index:Ünit": TYPE}`},
	} {
		w, err := newWriter(&settings{}, change(nil, resources{test.r}))
		if err == nil {
			err = w.write(t.TempDir())
		}
		equal(t, fmt.Sprint(err), test.want)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a": "a", "dbSubnetId": "db_subnet_id", "vpcID": "vpc_id", "dbURLPath": "db_url_path", "S3Bucket": "s3_bucket", "contentBase64": "content_base64", "foo_2": "foo_2",
	} {
		equal(t, snake(name), want)
	}
	for _, name := range []string{"a", "db_subnet_id", "content_base64sha256", "foo_2"} {
		equal(t, snake(camel(name)), name)
	}
	s := &settings{Types: map[string]string{"a:b:C": "d"}}
	for token, want := range map[string]string{
		"random:index:Pet": "random_pet", "aws:s3:Bucket": "aws_s3_bucket", "corp/net-work:a/b:DBUser": "corp_net_work_a_b_db_user", "a:b:C": "d",
	} {
		got, err := s.typeOf(resource(token+"::x:1", nil).Type)
		equal(t, fmt.Sprint(got, err), want+"<nil>")
	}
}

// Resources keep their addresses. In old and new, each word is a version of a resource x, or of a resource y if it starts
// with y. A name after @ is part of the address in the metadata.
func TestAddresses(t *testing.T) {
	t.Parallel()
	versions := func(text string) (all resources) {
		for word := range strings.FieldsSeq(text) {
			version, name, found := strings.Cut(word, "@")
			r := resource("random:index:Pet::x:"+version, nil)
			if strings.HasPrefix(version, "y") {
				r = resource("random:index:Pet::y:"+version[1:], nil)
			}
			if found {
				r.Metadata = provisioner.Properties{addressProperty: "random_pet." + name}
			}
			all = append(all, r)
		}
		return all
	}
	for _, test := range []struct{ old, new, want string }{
		{"", "1", "1=x"},                  // created
		{"1", "1", "1=x"},                 // retried after a failure
		{"1", "2", "2=x"},                 // changed
		{"1@x", "1@x 3", "1=x 3=x_3"},     // replaced, keeping the old version until the new one exists
		{"1@x 3", "1@x 3", "1=x 3=x_3"},   // replaced, and retried after a failure
		{"1@x 3", "1@x 4", "1=x 4=x_3"},   // replaced, and changed before the retry
		{"1@x 3@x_3", "3@x_3", "3=x_3"},   // old version deleted
		{"3@x_3", "5", "5=x_3"},           // changed after a replacement
		{"3@x_3", "3@x_3 5", "3=x_3 5=x"}, // replaced again
		{"9@x", "9@x 10 11", "10=x_10 11=x_11 9=x"},
		{"1@x", "y1@x", "y1=x"},         // renamed
		{"1@x", "y1@x 2", "2=x_2 y1=x"}, // renamed, with a new resource of the old name
	} {
		_, got, err := (&settings{}).addresses(change(versions(test.old), versions(test.new)))
		var all []string
		for _, key := range slices.Sorted(maps.Keys(got)) {
			key, name := strings.TrimPrefix(key, "site:random:index:Pet::"), strings.TrimPrefix(got[key], "random_pet.")
			all = append(all, strings.TrimPrefix(strings.Replace(key, ":", "", 1), "x")+"="+name)
		}
		slices.Sort(all)
		if strings.Join(all, " ") != test.want || err != nil {
			t.Errorf("addresses([%s], [%s]) = %s, %v, want %s", test.old, test.new, strings.Join(all, " "), err, test.want)
		}
	}
	_, got, err := (&settings{}).addresses(change(nil, resources{
		resource("random:index:Pet::a/b:1", nil), resource("random:index:Pet::a_b:1", nil), resource("random:index:Pet::2:1", nil),
	}))
	equal(t, fmt.Sprint(got, err), "map[site:random:index:Pet::2:1:random_pet._2 site:random:index:Pet::a/b:1:random_pet.a_b"+
		" site:random:index:Pet::a_b:1:random_pet.a_b_1] <nil>")
}

func TestSettingsErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"types: {}\ntyps: {}": `2: unknown key "typs": the valid keys are types, providers, backend and command, and in each provider source, version and configuration`,
		"providers:\n  aws:\n    release: 1": `3: unknown key "release": the valid keys are types, providers, backend and command, and in each provider source,` +
			" version and configuration",
		"types: [a]":                      "1: cannot construct !!seq into map[string]string",
		"types: {\"a:b:C\": \"no type\"}": ` types: a:b:C: must be an OpenTofu type such as random_pet, got "no type"`,
		"types: b: c":                     "1: mapping values are not allowed in this context",
		"backend: {s3: {key: \"{module}\"}}": " backend: the key or path must contain {environment} and {module}, so that each module has its own state," +
			` such as "{environment}/{module}.tfstate"`,
		"backend: {s3: {key: \"{module}{environment}\"}, pg: {}}": " backend: must have one type, got 2",
	} {
		file := filepath.Join(t.TempDir(), settingsFile)
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := readSettings(file)
		equal(t, fmt.Sprint(err), file+":"+want)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	want := token{"dev", "site", map[string]string{}}
	for i := range 3000 {
		want.Addresses[fmt.Sprintf("site:aws:s3:Bucket::customer-%d/files:%d", i, i)] = fmt.Sprintf("aws_s3_bucket.customer-%d_files", i)
	}
	text := must.Get(want.encode())(t)
	got, err := decodeToken(text)
	equal(t, err, nil)
	equal(t, got, want)
	for _, garbage := range []string{"", "garbage", "opentofu1:", "opentofu1:%", "opentofu1:AAAA", text[:len(text)/2]} {
		_, err := opentofu{t.TempDir()}.Status(t.Context(), garbage)
		equal(t, fmt.Sprint(err), "the token was not issued by this provisioner: no such resource")
	}
	_, err = opentofu{"w"}.Status(t.Context(), text)
	equal(t, fmt.Sprint(err), "folder w/.lumi/opentofu/dev/site not found: the change was made in another copy of the workspace or has since been destroyed: no such resource")
	equal(t, opentofu{}.folder("..", "a/b"), ".lumi/opentofu/%2E./a%2Fb")
}

// tofu show prints warnings about the CLI configuration to standard output, before the state.
func TestMetadataAfterWarning(t *testing.T) {
	state := "\nWarning: Unable to open CLI configuration file {x}\n\n" +
		`{"values": {"root_module": {"resources": [{"address": "a.b", "values": {"size": 1}}]}}}` + "\n"
	got, err := metadata([]byte(state), map[string]string{"key": "a.b"}, nil)
	equal(t, err, nil)
	equal(t, got, map[string]provisioner.Properties{"key": {"tofuAddress": "a.b", "size": 1.0}})
}
