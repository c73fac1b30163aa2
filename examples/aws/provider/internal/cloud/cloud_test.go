package cloud_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const role = "arn:aws:iam::123456789012:role/builder"

// isolate hides the machine's AWS configuration from the test and sets the given environment variables.
func isolate(t *testing.T, environment map[string]string) {
	t.Helper()
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL",
		"AWS_ENDPOINT_URL_EC2",
	} {
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil { // Setenv restores the variable after the test; unset differs from empty
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, "credentials"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	for name, value := range environment {
		t.Setenv(name, value)
	}
}

// account is an EC2 server that records the session tokens of requests.
type account struct {
	*ec2server.Server
	mu     sync.Mutex
	tokens map[string]bool
	url    string
}

// newAccount starts an account that accepts only requests signed with the given access key.
func newAccount(t *testing.T, keyID string) *account {
	t.Helper()
	a := &account{Server: ec2server.New("us-west-2", keyID), tokens: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.tokens[r.Header.Get("X-Amz-Security-Token")] = true
		a.mu.Unlock()
		a.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// create configures a provider, creates a VPC, and returns its id.
func create(t *testing.T, config *aws.Config) (lumi.ID, error) {
	t.Helper()
	c := new(cloud.Cloud)
	must.Do(t, c.Configure(t.Context(), config))
	created, err := ec2.Resources(c)[ec2.VPC].Create(t.Context(), &lumi.CreateRequest{
		URN: "urn:lumi:test::p:index::aws:ec2:VPC::main", Properties: network(t),
	})
	if err != nil {
		return "", err
	}
	return created.ID, nil
}

func network(t *testing.T) lumi.Bag {
	t.Helper()
	properties := must.Get(structpb.NewStruct(map[string]any{"name": "main", "cidrBlock": "10.0.0.0/16"}))(t)
	return lumi.BagOf(properties)
}

func keys(id string, token *string) *aws.Credentials {
	return &aws.Credentials{AccessKeyID: id, SecretAccessKey: "secret", SessionToken: token}
}

func TestConfiguration(t *testing.T) {
	isolate(t, map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDENVIRONMENT", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "eu-west-1",
		"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_EC2": "http://127.0.0.1:1",
	})
	a := newAccount(t, "AKIDCONFIGURATION")
	id := must.Get(create(t, &aws.Config{
		Region: aws.USWest2, Credentials: keys("AKIDCONFIGURATION", new("a-token")),
		Endpoints: map[aws.Service]string{aws.EC2Service: a.url}, MaxRetries: new(0),
		DefaultTags: aws.Tags{"team": "web"},
	}))(t)
	const u = "urn:lumi:test::p:index::aws:ec2:VPC::main"
	want := aws.Tags{"team": "web", "Name": "main", "lumi:urn": u, "lumi:create": cloud.Attempt(u, "")}
	if got := a.Tags(string(id)); !maps.Equal(got, want) {
		t.Errorf("tags = %v, want %v", got, want)
	}
	if !a.tokens["a-token"] || len(a.tokens) != 1 {
		t.Errorf("session tokens = %v, want only a-token", a.tokens)
	}
}

func TestEnvironment(t *testing.T) {
	for _, variable := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_EC2"} {
		t.Run(variable, func(t *testing.T) {
			a := newAccount(t, "AKIDENVIRONMENT")
			isolate(t, map[string]string{
				"AWS_ACCESS_KEY_ID": "AKIDENVIRONMENT", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "eu-west-1", variable: a.url,
			})
			must.Get(create(t, &aws.Config{Region: aws.USWest2}))(t)
		})
	}
	t.Run("AWS_PROFILE", func(t *testing.T) {
		a := newAccount(t, "AKIDPROFILE")
		isolate(t, map[string]string{"AWS_PROFILE": "work", "AWS_ENDPOINT_URL": a.url})
		profile := "[work]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = x\n"
		must.Do(t, os.WriteFile(os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), []byte(profile), 0o600))
		must.Get(create(t, &aws.Config{Region: aws.USWest2}))(t)
	})
}

// The provider obtains credentials from a fake token service (STS).
func TestAssumeRole(t *testing.T) {
	a := newAccount(t, "AKIDROLE")
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed := strings.Contains(r.Header.Get("Authorization"), "Credential=AKIDBASE/")
		if r.FormValue("Action") != "AssumeRole" || r.FormValue("RoleArn") != role || !signed {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>"+
				"<Message>You may not assume it</Message></Error></ErrorResponse>")
			return
		}
		_, _ = io.WriteString(w, "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>AKIDROLE</AccessKeyId>"+
			"<SecretAccessKey>x</SecretAccessKey><SessionToken>of-the-role</SessionToken>"+
			"<Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>")
	}))
	t.Cleanup(sts.Close)
	isolate(t, map[string]string{"AWS_ENDPOINT_URL_STS": sts.URL})
	config := &aws.Config{
		Region: aws.USWest2, Credentials: keys("AKIDBASE", nil), AssumeRole: new(role),
		Endpoints: map[aws.Service]string{aws.EC2Service: a.url},
	}
	must.Get(create(t, config))(t)
	if !a.tokens["of-the-role"] || len(a.tokens) != 1 {
		t.Errorf("session tokens = %v, want only of-the-role", a.tokens)
	}

	config.Credentials = keys("AKIDSTRANGER", nil)
	err := new(cloud.Cloud).Configure(t.Context(), config)
	want := "assuming role " + role + ": AccessDenied: You may not assume it"
	if err == nil || err.Error() != want {
		t.Errorf("Configure error = %v\nwant %s", err, want)
	}
}

func TestNoCredentials(t *testing.T) {
	isolate(t, nil)
	err := new(cloud.Cloud).Configure(t.Context(), &aws.Config{Region: aws.USWest2})
	want := "no AWS credentials found: set credentials in the configuration, or in the environment AWS_PROFILE, or both" +
		" AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (failed to refresh cached credentials, no EC2 IMDS role found"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Configure error = %v\nwant prefix %s", err, want)
	}
}

func TestNoProfile(t *testing.T) {
	isolate(t, map[string]string{"AWS_PROFILE": "work"})
	err := new(cloud.Cloud).Configure(t.Context(), &aws.Config{Region: aws.USWest2})
	if want := "failed to get shared config profile, work"; err == nil || err.Error() != want {
		t.Errorf("Configure error = %v\nwant %s", err, want)
	}
}

func TestWrongCredentials(t *testing.T) {
	isolate(t, nil)
	a := newAccount(t, "AKIDRIGHT")
	_, err := create(t, &aws.Config{
		Region: aws.USWest2, Credentials: keys("AKIDWRONG", nil),
		Endpoints: map[aws.Service]string{aws.EC2Service: a.url},
	})
	want := "AuthFailure: AWS was not able to validate the provided access credentials"
	if err == nil || err.Error() != want {
		t.Errorf("Create error = %v\nwant %s", err, want)
	}
}

func TestNoResponse(t *testing.T) {
	isolate(t, nil)
	closed := httptest.NewServer(nil)
	closed.Close()
	_, err := create(t, &aws.Config{
		Region: aws.USWest2, Credentials: keys("AKIDEXAMPLE", nil), MaxRetries: new(1),
		Endpoints: map[aws.Service]string{aws.EC2Service: closed.URL},
	})
	want := fmt.Sprintf(`no response from AWS: Post "%s/": dial tcp %s: connect: connection refused`, closed.URL,
		strings.TrimPrefix(closed.URL, "http://"))
	if err == nil || err.Error() != want || !errors.As(err, new(*lumi.RetryError)) {
		t.Errorf("Create error = %v\nwant a RetryError: %s", err, want)
	}
}

// A failed call returns an UncertainError if any attempt may have taken effect.
func TestOutcome(t *testing.T) {
	isolate(t, nil)
	const (
		limit  = "RequestLimitExceeded: Request limit exceeded"
		broken = "InternalError: An internal error has occurred"
		lost   = `no response from AWS: Post "ADDRESS/": EOF`
	)
	untrusted := httptest.NewUnstartedServer(nil)
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0) // discards failed TLS handshakes
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, test := range map[string]struct {
		address  string // "" selects the server with the failures
		failures []ec2server.Failure
		want     string
		meaning  error
	}{
		"throttled":            {"", []ec2server.Failure{ec2server.Throttled, ec2server.Throttled}, limit, &lumi.RetryError{}},
		"lost":                 {"", []ec2server.Failure{ec2server.Lost, ec2server.Lost}, "DeleteVpc: " + lost, &lumi.UncertainError{}},
		"broken":               {"", []ec2server.Failure{ec2server.Broken, ec2server.Broken}, "DeleteVpc: " + broken, &lumi.UncertainError{}},
		"lost, then throttled": {"", []ec2server.Failure{ec2server.Lost, ec2server.Throttled}, "DeleteVpc: " + limit, &lumi.UncertainError{}},
		"throttled, then lost": {"", []ec2server.Failure{ec2server.Throttled, ec2server.Lost}, "DeleteVpc: " + lost, &lumi.UncertainError{}},
		"refused": {
			"", []ec2server.Failure{ec2server.Refused},
			"UnauthorizedOperation: You are not authorized to perform this operation", nil,
		},
		"unreachable":           {closed.URL, nil, "connect: connection refused", &lumi.RetryError{}},
		"untrusted certificate": {untrusted.URL, nil, "x509: certificate signed by unknown authority", &lumi.RetryError{}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t, "AKIDEXAMPLE")
			a.Fail("DeleteVpc", test.failures...)
			c := new(cloud.Cloud)
			must.Do(t, c.Configure(t.Context(), &aws.Config{
				Region: aws.USWest2, Credentials: keys("AKIDEXAMPLE", nil), MaxRetries: new(1),
				Endpoints: map[aws.Service]string{aws.EC2Service: cmp.Or(test.address, a.url)},
			}))
			_, err := ec2.Resources(c)[ec2.VPC].Delete(t.Context(), &lumi.DeleteRequest{
				URN: "urn:lumi:test::p:index::aws:ec2:VPC::main", ID: "vpc-1", Properties: network(t),
			})
			want := strings.Replace(test.want, "ADDRESS", a.url, 1)
			meaning := lumi.Meaning(err)
			if err == nil || !strings.HasSuffix(err.Error(), want) || reflect.TypeOf(meaning) != reflect.TypeOf(test.meaning) {
				t.Errorf("Delete error = %v (%T)\nwant suffix %s (%T)", err, meaning, want, test.meaning)
			}
		})
	}
}

func TestCanceled(t *testing.T) {
	isolate(t, nil)
	a := newAccount(t, "AKIDEXAMPLE")
	a.Fail("CreateVpc", ec2server.Stalled)
	c := &cloud.Cloud{FindTimeout: 100 * time.Millisecond}
	must.Do(t, c.Configure(t.Context(), &aws.Config{
		Region: aws.USWest2, Credentials: keys("AKIDEXAMPLE", nil),
		Endpoints: map[aws.Service]string{aws.EC2Service: a.url},
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(a.Left()) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	vpcs := ec2.Resources(c)[ec2.VPC]
	request := &lumi.CreateRequest{
		URN: "urn:lumi:test::p:index::aws:ec2:VPC::main", Properties: network(t), Token: "one",
	}
	_, err := vpcs.Create(ctx, request)
	if !errors.Is(err, context.Canceled) || !errors.As(err, new(*lumi.UncertainError)) {
		t.Errorf("canceled Create = %v, want an UncertainError with %v", err, context.Canceled)
	}
	found, err := vpcs.Find(t.Context(), (*lumi.FindRequest)(request))
	if left := a.Left(); err != nil || len(left) != 1 || left[0] != string(found.ID) {
		t.Errorf("Find after a canceled Create = %v, %v, want the only one of %v", found, err, left)
	}
	request.Token = "two"
	if found, err := vpcs.Find(t.Context(), (*lumi.FindRequest)(request)); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("Find with another token = %v, %v, want %v", found, err, lumi.ErrNotFound)
	}
	if _, err := vpcs.Find(ctx, (*lumi.FindRequest)(request)); !errors.Is(err, context.Canceled) {
		t.Errorf("Find with a canceled context = %v, want %v", err, context.Canceled)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var progress []string
		ctx := lumi.WithEvents(t.Context(), func(e lumi.Event) { progress = append(progress, e.Message) })
		asked := 0
		err := cloud.Wait(ctx, "vpc-1", func(context.Context) (string, bool, error) {
			if asked++; asked == 1 {
				return "", false, lumi.ErrNotFound
			}
			return "pending", false, nil
		})
		if want := "waiting for vpc-1: still pending after 5m0s: context deadline exceeded"; err == nil || err.Error() != want ||
			asked < 15 {
			t.Errorf("Wait = %v after %d polls, want %s after at least 15", err, asked, want)
		}
		want := []string{"waiting for vpc-1: not visible yet", "waiting for vpc-1: pending"}
		if !slices.Equal(progress, want) {
			t.Errorf("progress = %q, want %q", progress, want)
		}
		failure := errors.New("out of order")
		if err := cloud.Wait(ctx, "vpc-1", func(context.Context) (string, bool, error) {
			return "", false, failure
		}); !errors.Is(err, failure) {
			t.Errorf("Wait with a failing poll = %v, want %v", err, failure)
		}
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after time.Duration
		err   error
		want  error
	}{
		"at once": {},
		"late":    {after: 2 * time.Second},
		"never":   {after: time.Hour, want: lumi.ErrNotFound},
		"failure": {err: os.ErrPermission, want: os.ErrPermission},
		"timeout": {err: context.DeadlineExceeded, want: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				id, err := new(cloud.Cloud).FindMade(t.Context(), func(context.Context) (string, error) {
					if time.Since(began) < test.after {
						return "", nil
					}
					return "vpc-1", test.err
				})
				if !errors.Is(err, test.want) || err == nil && id != "vpc-1" ||
					errors.Is(err, lumi.ErrNotFound) != (name == "never") {
					t.Errorf("FindMade = %q, %v, want error %v", id, err, test.want)
				}
			})
		})
	}
}

func TestConfigurationFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config aws.Config
		want   string
	}{
		"endpoints": {aws.Config{Endpoints: map[aws.Service]string{
			aws.EC2Service: "localhost:4566", aws.SNSService: "http://localhost",
		}}, `endpoints.ec2: must be a URL such as https://localhost:4566, got "localhost:4566"` + "\n" +
			"endpoints.sns: this provider has no resources of this service"},
		"tags": {aws.Config{DefaultTags: aws.Tags{"aws:x": "", "y": "&"}},
			`defaultTags["aws:x"]: tag keys that begin with aws: or lumi: are reserved` + "\n" +
				"defaultTags.y: has invalid characters: use letters, digits, spaces and _.:/=+-@"},
		"long tags": {aws.Config{DefaultTags: aws.Tags{
			strings.Repeat("ä", 129): "", "": "x", "value": strings.Repeat("ä", 257), strings.Repeat("ä", 128): strings.Repeat("ä", 256),
		}}, `defaultTags[""]: tag keys must not be empty` + "\n" +
			"defaultTags.value: must be at most 256 characters\n" +
			"defaultTags." + strings.Repeat("ä", 129) + ": tag keys must be at most 128 characters"},
		"many tags": {aws.Config{DefaultTags: numbered(48)},
			"defaultTags: has 48 tags: AWS allows 50, and this provider needs 3 of them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.config.Region = aws.USWest2
			err := lumi.Invalid(new(cloud.Cloud).Configure(t.Context(), &test.config))
			var invalid *lumi.InvalidError
			if !errors.As(err, &invalid) || invalid.Error() != test.want {
				t.Errorf("Configure error = %v\nwant %s", err, test.want)
			}
		})
	}
}

// numbered returns n tags with different keys.
func numbered(n int) aws.Tags {
	tags := aws.Tags{}
	for i := range n {
		tags[fmt.Sprint("tag ", i)] = ""
	}
	return tags
}

func TestMark(t *testing.T) {
	t.Parallel()
	const u = "urn:lumi:test::p:index::aws:ec2:VPC::main"
	if got := cloud.Mark(u); got != u {
		t.Errorf("Mark(%s) = %q, want the URN", u, got)
	}
	const odd = "urn:lumi:test::p:index::aws:s3:BucketObject::b/#1?"
	if mark := cloud.Mark(odd); len(mark) != len("sha256:")+64 || mark == cloud.Mark(odd+"?") {
		t.Errorf("Mark(%s) = %s, want a unique SHA-256", odd, mark)
	}
}
