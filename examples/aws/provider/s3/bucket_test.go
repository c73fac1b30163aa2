package s3_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	api "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/examples/aws/provider/s3"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/s3server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestBucket(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	cors := bag{"allowedMethods": []string{"GET", "PUT"}, "allowedOrigins": []string{"https://example.com"}}
	h.Resource(s3.Bucket, "lumi-pages").Life(t, providertest.Life{
		Create: bag{"name": "lumi-pages", "tags": bag{"stage": "test", "who": "a + b = c"}},
		Expect: bag{
			"accessControl": "private", "arn": "arn:aws:s3:::lumi-pages",
			"domainName": strings.TrimPrefix(server.URL, "http://"), "websiteURL": nil,
		},
		Updates: []providertest.Change{
			{Set: bag{"tags": bag{"stage": "production"}}, Changes: []string{
				`~ tags.stage: "test" -> "production"`, `- tags.who: "a + b = c"`,
			}},
			{Set: bag{"accessControl": "public-read"}},
			{Set: bag{"accessControl": "public-read-write"}},
			{Set: bag{"accessControl": nil, "tags": nil}, Expect: bag{"accessControl": "private"}},
			{Set: bag{"corsRules": []any{cors, cors.With(bag{
				"allowedHeaders": []string{"*"}, "exposedHeaders": []string{"ETag"}, "maxAge": 60,
			})}}},
			{Set: bag{"corsRules": nil}},
			{
				Set:    bag{"website": bag{"indexDocument": "index.html", "errorDocument": "error.html"}},
				Expect: bag{"websiteURL": server.URL + "/lumi-pages"},
			},
			{Set: bag{"website": bag{"redirectAllRequestsTo": "example.com"}}},
			{Set: bag{"website": nil}, Expect: bag{"websiteURL": nil}},
			{Set: bag{"forceDestroy": true}},
			{Set: bag{"versioning": "Enabled"}},
			{Set: bag{"versioning": "Suspended"}},
		},
		Replaces: []providertest.Replacement{
			{Set: bag{"name": "lumi-leaves"}, Because: []lumi.Path{"name"}},
		},
	})
}

func TestBucketAllProperties(t *testing.T) {
	t.Parallel()
	_, h := start(t)
	bucket := h.Resource(s3.Bucket, "lumi-pages")
	bucket.Create(t, bag{
		"name": "lumi-pages", "accessControl": "public-read", "versioning": "Enabled", "tags": bag{"a": "1"},
		"corsRules": []any{bag{"allowedMethods": []string{"GET"}, "allowedOrigins": []string{"*"}}},
		"website":   bag{"indexDocument": "index.html"},
	})
	bucket.Retry(t)
	// Removing the property suspends versioning, since it cannot be disabled.
	bucket.MayDiffer("versioning")
	bucket.Update(t, bag{"versioning": nil})
	if status := bucket.Get(t).Get("versioning"); status != nil {
		t.Errorf("versioning after refresh = %v, want none", status)
	}
	if status := bucket.GetID(t, "lumi-pages").Get("versioning"); status != "Suspended" {
		t.Errorf("versioning after import = %v, want Suspended", status)
	}
	bucket.Delete(t)
}

func TestBucketCheck(t *testing.T) {
	t.Parallel()
	_, h := start(t)
	bucket := h.Resource(s3.Bucket, "lumi-pages")
	for name, test := range map[string]struct {
		set    bag
		faults []string
	}{
		"name": {bag{"name": "Pages"}, []string{
			`name: must be a bucket name of lower-case letters, digits, periods, and hyphens, found "Pages"`,
		}},
		"address": {bag{"name": "10.0.0.1"}, []string{
			`name: must not have two periods in a row or be an IP address, found "10.0.0.1"`,
		}},
		"not implemented": {bag{
			"lifecycleRules": []any{bag{"enabled": true}}, "logging": bag{"destination": bucket},
			"notifications": []any{}, "accessControl": "log-delivery-write",
		}, []string{
			"lifecycleRules: is not supported by this provider: remove it",
			"logging: is not supported by this provider: remove it",
			"notifications: is not supported by this provider: remove it",
			`accessControl: "log-delivery-write" is not supported by this provider: must be "private", "public-read" or` +
				` "public-read-write"`,
		}},
		"CORS": {bag{"corsRules": []any{bag{"allowedMethods": []string{"PATCH"}, "allowedOrigins": []string{}}}},
			[]string{
				`corsRules[0].allowedMethods[0]: must be one of [DELETE GET HEAD POST PUT], got "PATCH"`,
				"corsRules[0].allowedOrigins: must not be empty",
			}},
		"no CORS": {bag{"corsRules": []any{}}, []string{"corsRules: must not be empty: remove it"}},
		"website": {bag{"website": bag{}}, []string{
			"website: a website needs an index document or a redirect",
		}},
		"redirect": {bag{"website": bag{"indexDocument": "i", "redirectAllRequestsTo": "h"}}, []string{
			"website.redirectAllRequestsTo: cannot be combined with indexDocument",
		}},
		"host": {bag{"website": bag{"redirectAllRequestsTo": "https://h"}}, []string{
			`website.redirectAllRequestsTo: must be a host name, found "https://h"`,
		}},
		"tags": {bag{"tags": bag{"lumi:urn": "x", "a&b": "c", "d": "?"}}, []string{
			`tags["a&b"]: has invalid characters: use letters, digits, spaces and _.:/=+-@`,
			"tags.d: has invalid characters: use letters, digits, spaces and _.:/=+-@",
			`tags["lumi:urn"]: tag keys that begin with aws: or lumi: are reserved`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bucket.Check(t, bag{"name": "lumi-pages"}.With(test.set), providertest.WantFaults(test.faults...))
		})
	}
}

// Create rejects existing buckets, whether in another account or in the same one.
func TestBucketTaken(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	server.AddUser(t, "AKIDOTHER", "another-secret")
	others := over(t, server, bag{"credentials": bag{
		"accessKeyID": "AKIDOTHER", "secretAccessKey": providertest.Secret("another-secret"),
	}}, providertest.Environment("other"))
	others.Resource(s3.Bucket, "theirs").Create(t, bag{"name": "theirs"})
	ours := client(server)
	name := "ours"
	must.Get(ours.CreateBucket(context.Background(), &api.CreateBucketInput{
		Bucket: &name, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "us-west-2"},
	}))(t)

	h.Resource(s3.Bucket, "ours").Create(t, bag{"name": "ours"}, providertest.WantFaults(
		"name: bucket ours already exists in this account and was not created by this resource"))
	rival := over(t, server, bag{"credentials": bag{
		"accessKeyID": "AKIDOTHER", "secretAccessKey": providertest.Secret("another-secret"),
	}})
	rival.Resource(s3.Bucket, "ours").Create(t, bag{"name": "ours"}, providertest.WantFaults(
		"name: bucket ours belongs to another account: bucket names are globally unique"))

	must.Get(ours.DeleteBucket(context.Background(), &api.DeleteBucketInput{Bucket: &name}))(t)
}

func TestBucketFailures(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	bucket := h.Resource(s3.Bucket, "lumi-pages")
	bucket.GetID(t, "lumi-pages", providertest.WantNotFound())
	properties := bag{"name": "lumi-pages", "versioning": "Enabled", "forceDestroy": true}
	server.Throttle(s3server.Is("PUT /lumi-pages"))
	bucket.Create(t, properties, providertest.WantRetry("SlowDown: Please reduce your request rate"))
	server.Throttle(s3server.Is("PUT /lumi-pages?versioning"))
	bucket.Create(t, properties, providertest.WantPartial("SlowDown: Please reduce your request rate"))
	if !bucket.Output("forceDestroy").GetBoolValue() { // Get does not return forceDestroy
		t.Error("forceDestroy after partial Create = false, want true")
	}
	bucket.Update(t, bag{"versioning": "Enabled"})

	server.Throttle(s3server.Is("PUT /lumi-pages?cors"))
	bucket.Update(t, bag{
		"tags":      bag{"a": "1"},
		"corsRules": []any{bag{"allowedMethods": []string{"GET"}, "allowedOrigins": []string{"*"}}},
	}, providertest.WantPartial("SlowDown: Please reduce your request rate"))
	if bucket.Output("corsRules") != nil || bucket.Output("tags").GetStructValue().GetFields()["a"] == nil {
		t.Errorf("after partial Update: corsRules = %v, tags = %v, want no rules and tag a", bucket.Output("corsRules"), bucket.Output("tags"))
	}
	server.Throttle(s3server.Is("PUT /lumi-pages?acl")) // fails after the two requests that permit public ACLs
	bucket.Update(t, bag{"accessControl": "public-read"}, providertest.WantRetry("SlowDown"))
	server.Throttle(s3server.Is("PUT /lumi-pages?website"))
	site := bag{"versioning": "Suspended", "website": bag{"indexDocument": "index.html"}}
	bucket.Update(t, site, providertest.WantPartial("SlowDown"))
	if bucket.Output("website") != nil || bucket.Output("websiteURL") != nil {
		t.Errorf("after partial Update: website = %v, websiteURL = %v, want none", bucket.Output("website"), bucket.Output("websiteURL"))
	}
	bucket.Update(t, site)
	server.Lose(s3server.Is("DELETE /lumi-pages"))
	bucket.Delete(t, providertest.WantUncertain("DeleteBucket: no response from AWS: "))
}

// fill adds all kinds of contents that prevent the deletion of a bucket: old versions, a delete marker, an unversioned
// object, and an incomplete upload.
func fill(t *testing.T, server *s3server.Server, name string, keys int) {
	t.Helper()
	ctx, c := context.Background(), client(server)
	do := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range keys {
		key := new(fmt.Sprintf("folder & <b>/%d +ä", i))
		do(c.PutObject(ctx, &api.PutObjectInput{Bucket: &name, Key: key, Body: strings.NewReader("one")}))
		do(c.PutObject(ctx, &api.PutObjectInput{Bucket: &name, Key: key, Body: strings.NewReader("two")}))
		do(c.DeleteObject(ctx, &api.DeleteObjectInput{Bucket: &name, Key: key}))
	}
	do(c.CreateMultipartUpload(ctx, &api.CreateMultipartUploadInput{Bucket: &name, Key: new("unfinished & <b>")}))
}

func TestBucketForceDestroy(t *testing.T) {
	t.Parallel()
	for versioning, keys := range map[any]int{
		nil: 3, "Suspended": 3, "Enabled": 334, // enough versions and markers for two pages
	} {
		t.Run(fmt.Sprint(versioning), func(t *testing.T) {
			t.Parallel()
			server, h := start(t)
			bucket := h.Resource(s3.Bucket, "lumi-pages")
			bucket.Create(t, bag{"name": "lumi-pages", "versioning": versioning})
			fill(t, server, "lumi-pages", keys)
			if versioning != nil {
				bucket.Delete(t, providertest.WantError(notEmpty))
				bucket.Update(t, bag{"forceDestroy": false})
				bucket.Delete(t, providertest.WantError(notEmpty))
			}
			bucket.Update(t, bag{"forceDestroy": true})
			bucket.Delete(t)
			bucket.GetID(t, "lumi-pages", providertest.WantNotFound())
		})
	}
}

const notEmpty = "bucket lumi-pages is not empty: delete its contents, including old versions and delete markers," +
	" or set forceDestroy to true and deploy before you delete the bucket"

func TestBucketForceDestroyFailures(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	bucket := h.Resource(s3.Bucket, "lumi-pages")
	bucket.Create(t, bag{"name": "lumi-pages", "versioning": "Enabled", "forceDestroy": true})
	fill(t, server, "lumi-pages", 1)
	server.Answer(s3server.Is("POST /lumi-pages?delete"), http.StatusOK, "<DeleteResult>"+
		"<Error><Key>a</Key><VersionId>1</VersionId><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>"+
		"<Error><Key>b</Key><VersionId>2</VersionId><Code>AccessDenied</Code></Error></DeleteResult>")
	bucket.Delete(t, providertest.WantError(`emptying bucket lumi-pages: "a", version 1: AccessDenied: Access Denied`+
		" (and 1 more)"))
	server.Answer(s3server.Is("POST /lumi-pages?delete"), http.StatusOK, "<DeleteResult/>")
	bucket.Delete(t, providertest.WantError(" still exists after it was deleted"))
	server.Throttle(s3server.Is("GET /lumi-pages?versions"))
	bucket.Delete(t, providertest.WantRetry("emptying bucket lumi-pages: SlowDown: Please reduce your request rate"))
	bucket.Delete(t)
}

func TestBucketOutcome(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	bucket := h.Resource(s3.Bucket, "lumi-pages")
	bucket.Create(t, bag{"name": "lumi-pages", "versioning": "Enabled"})
	destroy := func(want string, meaning error) {
		t.Helper()
		err := destroy(t.Context(), provider(t, server, 0)[s3.Bucket])
		if got := lumi.Meaning(err); err == nil || !strings.Contains(err.Error(), want) ||
			reflect.TypeOf(got) != reflect.TypeOf(meaning) {
			t.Errorf("Delete error = %v (%T)\nwant one that contains %s (%T)", err, got, want, meaning)
		}
	}
	const slow = "SlowDown: Please reduce your request rate"
	server.Throttle(s3server.Is("DELETE /lumi-pages"))
	destroy(slow, &lumi.RetryError{})
	fill(t, server, "lumi-pages", 1)
	server.Throttle(s3server.Is("DELETE /lumi-pages/unfinished%20&%20%3Cb%3E?uploadId"))
	destroy("emptying bucket lumi-pages: "+slow, &lumi.RetryError{})
	server.Lose(s3server.Is("DELETE /lumi-pages/unfinished%20&%20%3Cb%3E?uploadId"))
	destroy("emptying bucket lumi-pages: AbortMultipartUpload: no response from AWS: ", &lumi.UncertainError{})
	server.Lose(s3server.Is("DELETE /lumi-pages"))
	destroy("DeleteBucket: no response from AWS: ", &lumi.UncertainError{})
	bucket.Delete(t)
}

// destroy deletes the bucket lumi-pages and its contents.
func destroy(ctx context.Context, buckets lumi.ResourceProvider) error {
	properties, err := structpb.NewStruct(map[string]any{"name": "lumi-pages", "forceDestroy": true})
	if err != nil {
		return err
	}
	_, err = buckets.Delete(ctx, &lumi.DeleteRequest{
		URN: "urn:lumi:test::p:index::aws:s3:Bucket::lumi-pages", ID: "lumi-pages", Properties: lumi.BagOf(properties),
	})
	return err
}

func TestBucketEvents(t *testing.T) {
	t.Parallel()
	server, _ := start(t)
	var events []string
	ctx := lumi.WithEvents(t.Context(), func(e lumi.Event) {
		events = append(events, fmt.Sprintf("%v %v: %s", e.Level, e.Progress, e.Message))
	})
	buckets := provider(t, server, 0)[s3.Bucket]
	properties := must.Get(structpb.NewStruct(map[string]any{
		"name": "lumi-pages", "accessControl": "public-read", "versioning": "Enabled",
	}))(t)
	must.Get(buckets.Create(ctx, &lumi.CreateRequest{
		URN: "urn:lumi:test::p:index::aws:s3:Bucket::lumi-pages", Properties: lumi.BagOf(properties),
	}))(t)
	fill(t, server, "lumi-pages", 2)
	must.Do(t, destroy(ctx, buckets))
	want := []string{
		"WARN false: bucket lumi-pages is public: accessControl is public-read",
		"INFO true: emptying bucket lumi-pages: 6 versions deleted",
	}
	if !slices.Equal(events, want) {
		t.Errorf("events = %q\nwant     %q", events, want)
	}
}

// After a lost response, a repeated Create adopts the bucket only if it has the same token.
func TestBucketLostResponse(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	buckets := provider(t, server, 3)[s3.Bucket]
	properties := must.Get(structpb.NewStruct(map[string]any{"name": "lumi-pages", "versioning": "Enabled"}))(t)
	create := func(token string) error {
		_, err := buckets.Create(t.Context(), &lumi.CreateRequest{
			URN: "urn:lumi:test::p:index::aws:s3:Bucket::lumi-pages", Properties: lumi.BagOf(properties), Token: token,
		})
		return err
	}
	server.Lose(s3server.Is("PUT /lumi-pages"))
	if err := create("one"); !errors.As(err, new(*lumi.UncertainError)) {
		t.Errorf("Create with lost response = %v, want an UncertainError", err)
	}
	const taken = "name: bucket lumi-pages already exists in this account and was not created by this resource"
	if err := create("two"); err == nil || err.Error() != taken {
		t.Errorf("Create with another token = %v, want %s", err, taken)
	}
	for range 2 {
		if err := create("one"); err != nil {
			t.Errorf("Create with the same token = %v, want nil", err)
		}
	}
	got := h.Resource(s3.Bucket, "lumi-pages").GetID(t, "lumi-pages")
	if status := got.Get("versioning"); status != "Enabled" {
		t.Errorf("versioning = %v, want Enabled", status)
	}
	must.Do(t, destroy(t.Context(), buckets))
}
