package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	api "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"google.golang.org/protobuf/types/known/structpb"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/s3"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/s3server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// shelf creates a bucket with the given additional properties.
func shelf(t *testing.T, h *providertest.Harness, set bag) *providertest.Resource {
	t.Helper()
	bucket := h.Resource(s3.Bucket, "lumi-pages")
	bucket.Create(t, bag{"name": "lumi-pages"}.With(set))
	return bucket
}

// read returns the content of an object.
func read(t *testing.T, server *s3server.Server, bucket, key string) []byte {
	t.Helper()
	out := must.Get(client(server).GetObject(context.Background(), &api.GetObjectInput{Bucket: &bucket, Key: &key}))(t)
	defer out.Body.Close()
	content := must.Get(io.ReadAll(out.Body))(t)
	return content
}

func TestObject(t *testing.T) {
	t.Parallel()
	_, h := start(t)
	bucket := shelf(t, h, nil)
	h.Unnamed(s3.BucketObject).Life(t, providertest.Life{
		Create: bag{"bucket": bucket, "key": "a/index (1).html", "source": lumi.TextAsset("one")},
		Known:  []string{"bucket", "key"},
		Expect: bag{
			"contentType": "binary/octet-stream", "storageClass": "STANDARD", "eTag": "f97c5d29941bfb1b2fdab0874906ab82",
		},
		Updates: []providertest.Change{
			{
				Set:    bag{"source": lumi.TextAsset("two"), "contentType": "text/plain"},
				Expect: bag{"eTag": "b8a9f715dbb64fd5c56e7783c6820a61"},
			},
			{Set: bag{"tags": bag{"a": "1", "b": "x + y = z"}}},
			{Set: bag{"tags": nil}},
		},
		Replaces: []providertest.Replacement{
			{Set: bag{"key": "b"}, Because: []lumi.Path{"key"}},
		},
	})
}

func TestObjectContent(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	bucket := shelf(t, h, nil)
	file := filepath.Join(t.TempDir(), "page")
	for name, content := range map[string][]byte{
		"empty": {},
		"small": []byte("<!doctype html>"),
		"parts": bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16),
	} {
		t.Run(name, func(t *testing.T) {
			object := h.Unnamed(s3.BucketObject)
			must.Do(t, os.WriteFile(file, content, 0o644))
			object.Create(t, bag{"bucket": bucket, "key": name, "source": lumi.FileAsset(file)})
			if got := read(t, server, "lumi-pages", name); !bytes.Equal(got, content) {
				t.Errorf("content after Create has %d bytes, want the %d bytes of the source", len(got), len(content))
			}
			must.Do(t, os.WriteFile(file, []byte("changed"), 0o644))
			object.Update(t, bag{"source": lumi.FileAsset(file), "contentType": "text/plain"})
			if got := read(t, server, "lumi-pages", name); string(got) != "changed" {
				t.Errorf("content after Update = %q, want changed", got)
			}
			object.Delete(t)
		})
	}
}

// Old versions of a deleted object remain and prevent the deletion of the bucket.
func TestObjectVersions(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	bucket := shelf(t, h, bag{"versioning": "Enabled"})
	object := h.Unnamed(s3.BucketObject)
	object.MayDiffer("versionID") // a repeated Update creates another version
	object.Create(t, bag{"bucket": bucket, "key": "a", "source": lumi.TextAsset("one")})
	first := object.Output("versionID").GetStringValue()
	object.Update(t, bag{"source": lumi.TextAsset("two")})
	if second := object.Output("versionID").GetStringValue(); first == "" || second == "" || first == second {
		t.Errorf("versionID = %q, then %q, want two different ids", first, second)
	}
	object.Delete(t)
	bucket.Delete(t, providertest.WantError(notEmpty))

	name := "lumi-pages"
	c := client(server)
	versions, err := c.ListObjectVersions(context.Background(), &api.ListObjectVersionsInput{Bucket: &name})
	if err != nil || len(versions.Versions) != 3 {
		t.Fatalf("ListObjectVersions = %d versions, %v, want 3", len(versions.Versions), err)
	}
	for _, v := range versions.Versions {
		must.Get(c.DeleteObject(context.Background(), &api.DeleteObjectInput{
			Bucket: &name, Key: v.Key, VersionId: v.VersionId,
		}))(t)
	}
	for _, m := range versions.DeleteMarkers {
		must.Get(c.DeleteObject(context.Background(), &api.DeleteObjectInput{
			Bucket: &name, Key: m.Key, VersionId: m.VersionId,
		}))(t)
	}
	bucket.Delete(t)
}

func TestObjectFaults(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	bucket := shelf(t, h, nil)
	object := h.Unnamed(s3.BucketObject)
	properties := bag{"bucket": bucket, "key": "a", "source": lumi.TextAsset("one")}
	many := bag{}
	for _, key := range strings.Split("abcdefghij", "") {
		many[key] = "x"
	}
	object.Check(t, properties.With(bag{"key": "", "storageClass": "GLACIER", "tags": many}), providertest.WantFaults(
		"tags: has 11 tags, including those from the configuration and one that this provider needs: AWS allows 10 on an object",
		"key: must be 1 to 1024 bytes, got 0",
		`storageClass: "GLACIER" is not supported by this provider: must be "STANDARD"`,
	))
	missing := filepath.Join(t.TempDir(), "missing")
	object.Check(t, properties.With(bag{"source": lumi.FileAsset(missing)}), providertest.WantFaults(
		"source: \""+missing+"\": no such file"))
	gone := h.Given(s3.Bucket, "gone", "gone", bag{"name": "gone"})
	object.Create(t, properties.With(bag{"bucket": gone}), providertest.WantFaults(
		"bucket: NoSuchBucket: The specified bucket does not exist"))
	planned := h.Given(s3.Bucket, "planned", "", bag{"name": "planned"})
	object.Create(t, properties.With(bag{"bucket": planned}), providertest.WantFaults(
		"bucket: urn:lumi:test::aws:s3::aws:s3:Bucket::planned does not exist"))

	const size = 9 << 20 // more than one part
	sent := map[string]int{"/small": 5, "/large": size}
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(size+1))
		_, _ = w.Write(make([]byte, sent[r.URL.Path])) // the client may have disconnected
	}))
	t.Cleanup(cut.Close)
	for _, path := range []string{"/small", "/large"} {
		object.Create(t, properties.With(bag{"source": lumi.URIAsset(cut.URL + path)}), providertest.WantFaults(
			fmt.Sprintf("source: %q: is cut off: the server sent %d of %d bytes", cut.URL+path, sent[path], size+1)))
	}

	object.GetID(t, "lumi-pages/", providertest.WantNotFound())
	object.GetID(t, "/a", providertest.WantNotFound())
	object.GetID(t, "lumi-pages/none", providertest.WantNotFound())
	object.GetID(t, "none/a", providertest.WantNotFound())
	object.GetID(t, "none", providertest.WantNotFound())

	name, key := "lumi-pages", "a"
	c := client(server)
	must.Get(c.PutObject(context.Background(), &api.PutObjectInput{
		Bucket: &name, Key: &key, Body: strings.NewReader("by hand"),
	}))(t)
	object.Create(t, properties, providertest.WantFaults(
		"key: object lumi-pages/a already exists and was not created by this resource"))
	if got := read(t, server, name, key); string(got) != "by hand" {
		t.Errorf("content of the existing object after Create = %q, want by hand", got)
	}
	must.Get(c.DeleteObject(context.Background(), &api.DeleteObjectInput{Bucket: &name, Key: &key}))(t)
}

func TestObjectFailures(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	bucket := shelf(t, h, nil)
	object := h.Unnamed(s3.BucketObject)
	properties := bag{"bucket": bucket, "key": "a", "source": lumi.TextAsset("one")}
	server.Throttle(s3server.Is("PUT /lumi-pages/a"))
	object.Create(t, properties, providertest.WantRetry("SlowDown: Please reduce your request rate"))
	server.Lose(s3server.Is("PUT /lumi-pages/a"))
	object.Create(t, properties, providertest.WantUncertain("PutObject: no response from AWS: "))
	server.Lose(s3server.Is("DELETE /lumi-pages/a"))
	object.Delete(t, providertest.WantUncertain("DeleteObject: no response from AWS: "))
}

// Check generates a missing key from the seed, unless the object already has a key.
func TestObjectKey(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	bucket := shelf(t, h, nil)
	objects := provider(t, server, 0)[s3.BucketObject]
	check := func(seed string, old lumi.Bag, key any) lumi.Bag {
		t.Helper()
		properties := must.Get(structpb.NewStruct(map[string]any{
			"bucket": string(bucket.URN()), "source": map[string]any{wire.Signature: wire.Asset, "text": "one"}, "key": key,
		}))(t)
		checked := must.Get(objects.Check(t.Context(), &lumi.CheckRequest{
			URN: "urn:lumi:test::p:index::aws:s3:BucketObject::#1", Properties: lumi.BagOf(properties), Seed: lumi.Seed(seed), Old: old,
		}))(t)
		return checked.Properties
	}
	first := check("one", lumi.Bag{}, nil)
	key, _ := first.Get("key").(string)
	if !regexp.MustCompile(`^object-[a-z0-9]{16}$`).MatchString(key) {
		t.Fatalf("key = %q, want object- and 16 random characters", key)
	}
	given := check("one", lumi.Bag{}, "index.html")
	for name, test := range map[string]struct {
		got  lumi.Bag
		same bool
	}{
		"again":        {check("one", lumi.Bag{}, nil), true},
		"another seed": {check("two", lumi.Bag{}, nil), false},
		"old key":      {check("two", first, nil), true},
		"old name":     {check("one", given, nil), false},
		"given":        {check("one", first, "index.html"), false},
		"unknown":      {check("one", first, wire.Unknown), false},
	} {
		if (test.got.Get("key") == key) != test.same {
			t.Errorf("%s: key = %v after %s, want the same = %t", name, test.got.Get("key"), key, test.same)
		}
	}
	object := h.Unnamed(s3.BucketObject)
	object.Create(t, bag{"bucket": bucket, "source": lumi.TextAsset("one")})
	if got := object.Output("key").GetStringValue(); string(object.ID()) != "lumi-pages/"+got {
		t.Errorf("key of object %s = %q, want the second part of the id", object.ID(), got)
	}
	object.Delete(t)
	bucket.Delete(t)
}

// Get refers to the bucket by its name, which is its id.
func TestObjectBucket(t *testing.T) {
	t.Parallel()
	server := s3server.Start(t, string(aws.USWest2))
	name, c := "lumi-pages", client(server)
	must.Get(c.CreateBucket(t.Context(), &api.CreateBucketInput{
		Bucket: &name, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "us-west-2"},
	}))(t)
	const bucket, object = "urn:lumi:test::p:index::aws:s3:Bucket::b", "urn:lumi:test::p:index::aws:s3:BucketObject::b/a"
	objects := provider(t, server, 0)[s3.BucketObject]
	properties := must.Get(structpb.NewStruct(map[string]any{
		"bucket": bucket, "key": "a", "source": map[string]any{wire.Signature: wire.Asset, "text": "one"},
	}))(t)
	references := lumi.References{bucket: {ID: "lumi-pages"}}
	created := must.Get(objects.Create(t.Context(), &lumi.CreateRequest{
		URN: object, Properties: lumi.BagOf(properties), References: references,
	}))(t)
	want := string(urn.ByID(s3.Bucket, name))
	for _, purpose := range []lumi.Purpose{lumi.Import, lumi.Refresh} {
		request := &lumi.GetRequest{ID: created.ID, Purpose: purpose}
		if purpose == lumi.Refresh {
			request.URN, request.Old, request.References = object, lumi.BagOf(properties), references
		}
		got, err := objects.Get(t.Context(), request)
		if err != nil || got.Properties.Get("bucket") != want {
			t.Errorf("bucket from Get for %s = %v, %v, want %v", purpose, got.Properties.Get("bucket"), err, want)
		}
	}
}

// Calls return faults for properties that have not passed Check.
func TestObjectUncheckedProperties(t *testing.T) {
	t.Parallel()
	server := s3server.Start(t, string(aws.USWest2))
	const bucket = "urn:lumi:test::p:index::aws:s3:Bucket::lumi-pages"
	objects := provider(t, server, 0)[s3.BucketObject]
	for name, test := range map[string]struct {
		properties map[string]any
		want       string
	}{
		"file gone": {map[string]any{"bucket": bucket, "key": "a"}, `source: "/gone/page": no such file`},
		"create without a key": {
			map[string]any{"bucket": bucket}, "key: is required, but missing: Check fills it in",
		},
		"no key": {
			map[string]any{"bucket": bucket, "key": wire.Unknown},
			"key: must be known, because it is part of the resource's name",
		},
		"no key given": {
			map[string]any{"bucket": bucket}, "key: must be known, because it is part of the resource's name",
		},
		"no bucket": {
			map[string]any{"bucket": wire.Unknown, "key": "a"},
			"bucket: must be known, because it is part of the resource's name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.properties["source"] = map[string]any{wire.Signature: wire.Asset, "path": "/gone/page"}
			test.properties["contentType"], test.properties["storageClass"] = "text/plain", "STANDARD"
			properties, err := structpb.NewStruct(test.properties)
			if err != nil {
				t.Fatal(err)
			}
			const object = "urn:lumi:test::p:index::aws:s3:BucketObject::#1"
			if name == "file gone" || name == "create without a key" {
				_, err = objects.Create(t.Context(), &lumi.CreateRequest{
					URN: object, Properties: lumi.BagOf(properties), References: lumi.References{bucket: {ID: "lumi-pages"}},
				})
			} else {
				_, err = objects.Name(t.Context(), &lumi.NameRequest{URN: object, Properties: lumi.BagOf(properties)})
			}
			var invalid *lumi.InvalidError
			if !errors.As(err, &invalid) || invalid.Error() != test.want {
				t.Errorf("error = %v\nwant    %s", err, test.want)
			}
		})
	}
}
