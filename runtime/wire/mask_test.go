package wire

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// secretsOf returns a set of secrets with the given values.
func secretsOf(texts ...string) *Secrets {
	s := NewSecrets(nil)
	for _, text := range texts {
		s.AddValue(text)
	}
	return s
}

func TestMask(t *testing.T) {
	long := strings.Repeat("0123456789", 1000)
	for name, test := range map[string]struct {
		secrets    []string
		text, want string
	}{
		"none":         {nil, "all is well", "all is well"},
		"empty":        {[]string{"hunter2"}, "", ""},
		"short":        {[]string{"hunt5"}, "hunt5", "hunt5"},
		"shortest":     {[]string{"hunter"}, "a hunter!", "a (secret)!"},
		"blank":        {[]string{"        "}, "a         b", "a         b"},
		"all of it":    {[]string{"hunter2"}, "hunter2", "(secret)"},
		"twice":        {[]string{"hunter2"}, "hunter2, hunter2", "(secret), (secret)"},
		"side by side": {[]string{"hunter2", "passw0rd"}, "xhunter2passw0rdx", "x(secret)x"},
		"a word":       {[]string{"denied"}, "access denied", "access (secret)"},
		"prefix": {
			[]string{"hunter", "hunter2", "hunter22"}, "hunter2! hunter22! hunter222!", "(secret)! (secret)! (secret)2!",
		},
		"prefix of none":   {[]string{"hunter", "hunter2345"}, "hunter234", "(secret)234"},
		"inside":           {[]string{"hunter2", "xhunter2x"}, "an xhunter2x", "an (secret)"},
		"overlap":          {[]string{"abcdefgh", "efghijkl"}, "-abcdefghijkl-", "-(secret)-"},
		"overlap itself":   {[]string{"abcabcabc"}, "-abcabcabcabc-", "-(secret)-"},
		"at the end":       {[]string{"hunter2"}, "no hunter", "no hunter"},
		"blanks around":    {[]string{"hunter2\n"}, "no hunter2!", "no (secret)!"},
		"not ASCII":        {[]string{"größer"}, "größer, gr\\u00f6\\u00dfer", "(secret), (secret)"},
		"not text":         {[]string{"\xff\xfe\xfd\xfc\xfb\xfa"}, "\xff\xfe\xfd\xfc\xfb\xfa", "(secret)"},
		"long":             {[]string{long}, "it is " + long + ".", "it is (secret)."},
		"long and quoted":  {[]string{"\"" + long}, "it is " + strconv.Quote("\""+long) + ".", "it is \"(secret)\"."},
		"a half":           {[]string{"hunter2hunter3"}, "hunter2", "hunter2"},
		"mark":             {[]string{"(secret)"}, "(secret)", "(secret)"},
		"in a longer word": {[]string{"hunter2"}, "xhunter2x", "x(secret)x"},
	} {
		expect.Equal(t, test.want, Mask(test.text, secretsOf(test.secrets...)), name)
	}
	var none *Secrets
	none.AddValue("hunter2")
	expect.Equal(t, "hunter2", Mask("hunter2", none))
}

func TestMaskEncodings(t *testing.T) {
	for _, secret := range []string{
		"hunter2", "hunter", "p@ss/w?rd+&=<1>", "say \"hi\"\tto\\me\n", "größer als größer", "p a s s w o r d",
		"\x01\x02\x03\x04\x05\x06", `C:\new\temp%41+&amp;x`, `{"key": "a \"value\"\n"}`,
		"-----BEGIN KEY-----\nMIIB+/==\n-----END KEY-----\n", "50%/day&night+",
	} {
		asJSON := func(v any) string {
			return string(must.Get(json.Marshal(v))(t))
		}
		text := asJSON(map[string]string{"key": secret})
		var log, asXML strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Error("x", "json", text, "raw", secret, "error", errors.New(secret))
		must.Do(t, xml.EscapeText(&asXML, []byte(secret)))
		_, timeErr := time.Parse(time.RFC3339, secret)
		std := base64.StdEncoding.EncodeToString
		forms := map[string]string{
			"json":          text,
			"json in json":  asJSON(text),
			"json quoted":   asJSON(fmt.Sprintf("%q", text)),
			"json in a URL": "?a=" + url.QueryEscape(text),
			"log":           log.String(),
			"quoted":        fmt.Sprintf("%q", secret),
			"twice":         fmt.Sprintf("%q", fmt.Sprintf("%q", secret)),
			"ASCII":         fmt.Sprintf("%+q", secret),
			"time":          timeErr.Error(),
			"XML":           "<a>" + asXML.String() + "</a>",
			"HTML":          html.EscapeString(secret),
			"HTML of JSON":  html.EscapeString(text),
			"query":         "?a=" + url.QueryEscape(secret) + "&b",
			"path":          "/a/" + url.PathEscape(secret) + "/b",
			"URL":           (&url.URL{Scheme: "http", Host: "h", Path: "/v1/" + secret}).String(),
			"fragment":      (&url.URL{Scheme: "http", Host: "h", Fragment: secret}).String(),
			"user":          (&url.URL{Scheme: "http", Host: "h", User: url.UserPassword(secret, secret)}).String(),
			"values":        url.Values{"a": {secret}}.Encode(),
			"lower case":    strings.ReplaceAll(url.QueryEscape(secret), "%2F", "%2f"),
			"CRLF":          strings.ReplaceAll(secret, "\n", "\r\n"),
			"base64":        std([]byte(secret)),
			"base64 URL":    base64.URLEncoding.EncodeToString([]byte(secret)),
			"base64 raw":    base64.RawStdEncoding.EncodeToString([]byte(secret)),
			"base64 JSON":   std([]byte(`{"a": ` + text + `}`)),
			"base64 twice":  std([]byte("a:" + std([]byte("me:"+secret)))),
			"base64 query":  url.QueryEscape(std([]byte("a:" + secret))),
		}
		for _, around := range []string{"", "u:", "us:", "user:"} {
			for _, after := range []string{"", "\n", "\n\n", ":more"} {
				forms["basic "+around+after] = std([]byte(around + secret + after))
			}
		}
		s := secretsOf(secret)
		for name, form := range forms {
			if strings.ContainsRune(form, utf8.RuneError) {
				continue // XML cannot represent control characters.
			}
			got := Mask("before "+form+" after", s)
			if !strings.Contains(got, Masked) || strings.Contains(got, strings.TrimSpace(secret)) ||
				!strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("Mask of %s form of %q = %q, want it masked", name, secret, got)
			}
			// A few characters of base64 may remain that encode spaces around the secret.
			left := len(got) - len("before  after") - len(Masked)
			if (name == "base64" || name == "base64 URL" || name == "base64 raw") && left > 4 {
				t.Errorf("Mask of %s form of %q leaves %d characters: %q", name, secret, left, got)
			}
		}
	}
}

func TestMaskManySecrets(t *testing.T) {
	const n = 5000
	var texts []string
	var text, want strings.Builder
	for i := range n {
		secret := fmt.Sprintf("password number %05d", i)
		texts = append(texts, secret)
		fmt.Fprintf(&text, "%d is %q, ", i, secret)
		fmt.Fprintf(&want, "%d is %q, ", i, Masked)
	}
	text.WriteString("password number x")
	want.WriteString("password number x")
	if got := Mask(text.String(), secretsOf(texts...)); got != want.String() {
		t.Errorf("Mask with %d secrets = %q, want %q", len(texts), got, want.String())
	}
}

func TestMaskSeveralSets(t *testing.T) {
	outer := secretsOf("abcdefgh")
	inner := NewSecrets(outer)
	inner.AddValue("efghijkl")
	expect.Equal(t, "-(secret)-(secret)-(secret)", Mask("-abcdefghijkl-abcdefgh-efghijkl", inner))
	expect.Equal(t, "-(secret)-", Mask("-abcdefghijklmnop-", inner, secretsOf("ijklmnop"), nil))
	inner.AddKey("later key")
	inner.AddKey("is declared")
	inner.AddKey("region")
	inner.AddName("is declared")
	want := `(secret) is declared, region {(secret): "region "}`
	expect.Equal(t, want, Mask(`later key is declared, region {"region": "region "}`, inner))
	if SecretsOf(WithSecrets(context.Background(), inner)) != inner || SecretsOf(context.Background()) != nil {
		t.Error("SecretsOf returned other secrets, want the context's")
	}
}

func TestPath(t *testing.T) {
	s := NewSecrets(nil)
	for add, words := range map[*func(string)][]string{
		new(s.AddValue): {"password", "hunter2", `a "quoted" key`, "a.dotted[0]"},
		new(s.AddKey):   {"username", "secret key", "region"},
		new(s.AddName):  {"login", "password", "username", "tags", "login"},
	} {
		for _, word := range words {
			(*add)(word)
		}
	}
	for path, want := range map[string]string{
		"":                              "",
		"login.password":                "login.password",
		"login.username":                "login.username",
		"password":                      "password",
		"hunter2.password":              "[…].password",
		"tags.hunter2":                  "tags[…]",
		"tags.hunter2.password[3]":      "tags[…].password[3]",
		"tags.xhunter2x":                "tags[…]",
		`tags["secret key"].x`:          "tags[…].x",
		`tags["a \"quoted\" key"][1].x`: "tags[…][1].x",
		`tags["a.b[c"]`:                 `tags["a.b[c"]`,
		`["hunter2"]`:                   "[…]",
		"tags[10]":                      "tags[10]",
		`tags["hunter2`:                 "tags[…]",
		`tags["a.dotted[0]"]`:           "tags[…]",
		"tags.region.x":                 "tags[…].x",
		"tags.a.dotted[0]":              "tags.a.dotted[0]", // not a key, since it is not in brackets
	} {
		expect.Equal(t, want, s.Path(path), path)
	}
}

// selfless is a panic value whose methods panic.
type selfless struct{}

func (selfless) Error() string { panic(selfless{}) }

func (selfless) String() string { panic(selfless{}) }

func TestTextOf(t *testing.T) {
	for want, v := range map[string]any{
		"failed": errors.New("failed"),
		"5":      5,
		"wire.selfless: its Error method panicked": selfless{},
	} {
		expect.Equal(t, want, TextOf(v))
	}
}

func FuzzMask(f *testing.F) {
	f.Add("hunter2", "efghijkl", "a hunter2 efghijkl")
	f.Fuzz(func(t *testing.T, a, b, text string) {
		s := secretsOf(a, b)
		got := Mask(text+a+text, s)
		a = strings.TrimSpace(a)
		if len(a) >= minSecret && !strings.Contains(Masked, a) &&
			strings.Contains(strings.ReplaceAll(got, Masked, "\x00"), a) {
			t.Errorf("Mask left %q: %q", a, got)
		}
		s.Path(text)
	})
}

// BenchmarkMask masks a text of 8 KiB. The second half of the cases has eight times as many secrets as the first.
func BenchmarkMask(b *testing.B) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog ", 200)
	for _, n := range []int{1, 1000, 8000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var texts []string
			for i := range n {
				texts = append(texts, fmt.Sprintf("password number %d", i))
			}
			for b.Loop() {
				Mask(text, secretsOf(texts...))
			}
		})
	}
}
