package mask

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// secretsOf makes secrets of texts.
func secretsOf(texts ...string) *Secrets {
	s := New(nil)
	s.Add(func() Found { return Found{Texts: texts} })
	return s
}

func TestText(t *testing.T) {
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
		if got := secretsOf(test.secrets...).Text(test.text); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	var none *Secrets
	none.Add(func() Found { return Found{Texts: []string{"hunter2"}} })
	if got := none.Text("hunter2"); got != "hunter2" {
		t.Errorf("got %q", got)
	}
}

// TestHead cuts texts off inside of secrets.
func TestHead(t *testing.T) {
	secret := strings.Repeat("0123456789", 1000)
	text := strings.Repeat(".", 5000) + secret
	dots := func(n int) string { return strings.Repeat(".", n) }
	for n, want := range map[int]string{
		1024: "", 5000: dots(3976), 5100: dots(4076), 6023: dots(4999), 6024: dots(5000) + Mark, 7000: dots(5000) + Mark,
		len(text) - 1: dots(5000) + Mark, len(text): dots(5000) + Mark, len(text) + 1: dots(5000) + Mark,
	} {
		if got := secretsOf(secret).Head(text, n); got != want {
			t.Errorf("%d: got %d bytes: %q", n, len(got), got)
		}
	}
	if got := New(nil).Head(text, 5000); got != dots(3976) {
		t.Errorf("without secrets: got %d bytes", len(got))
	}
}

// TestForms has a secret in all forms in which it gets into errors.
func TestForms(t *testing.T) {
	for _, secret := range []string{
		"hunter2", "hunter", "p@ss/w?rd+&=<1>", "say \"hi\"\tto\\me\n", "größer als größer", "p a s s w o r d",
		"\x01\x02\x03\x04\x05\x06",
	} {
		text, err := json.Marshal(map[string]string{"key": secret})
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Error("x", "json", string(text), "raw", secret, "error", errors.New(secret))
		forms := map[string]string{
			"json":        string(text),
			"log":         log.String(),
			"quoted":      fmt.Sprintf("%q", secret),
			"twice":       fmt.Sprintf("%q", fmt.Sprintf("%q", secret)),
			"ASCII":       fmt.Sprintf("%+q", secret),
			"query":       "?a=" + url.QueryEscape(secret) + "&b",
			"path":        "/a/" + url.PathEscape(secret) + "/b",
			"user":        (&url.URL{Scheme: "http", Host: "h", User: url.UserPassword(secret, secret)}).String(),
			"values":      url.Values{"a": {secret}}.Encode(),
			"lower case":  strings.ToLower(url.QueryEscape(secret)),
			"base64":      base64.StdEncoding.EncodeToString([]byte(secret)),
			"base64 URL":  base64.URLEncoding.EncodeToString([]byte(secret)),
			"base64 raw":  base64.RawStdEncoding.EncodeToString([]byte(secret)),
			"base64 JSON": base64.StdEncoding.EncodeToString([]byte("{\"a\": \"" + secret + "\"}")),
		}
		for _, around := range []string{"", "u:", "us:", "user:"} {
			for _, after := range []string{"", "\n", "\n\n", ":more"} {
				forms["basic "+around+after] = base64.StdEncoding.EncodeToString([]byte(around + secret + after))
			}
		}
		s := secretsOf(secret)
		for name, form := range forms {
			got := s.Text("before " + form + " after")
			if !strings.Contains(got, Mark) || strings.Contains(got, strings.TrimSpace(secret)) ||
				!strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("%s of %q: got %q", name, secret, got)
			}
			// Of base64 inside of other text, a character at each end holds bits of both.
			if left := len(got) - len("before  after") - len(Mark); strings.HasPrefix(name, "base64") &&
				name != "base64 JSON" && left > 0 {
				t.Errorf("%s of %q: %d characters are left: %q", name, secret, left, got)
			}
		}
	}
}

// TestManySecrets has thousands of secrets that begin alike, and a long text with all of them.
func TestManySecrets(t *testing.T) {
	const n = 5000
	var texts []string
	var text, want strings.Builder
	for i := range n {
		secret := fmt.Sprintf("password number %05d", i)
		texts = append(texts, secret)
		fmt.Fprintf(&text, "%d is %q, ", i, secret)
		fmt.Fprintf(&want, "%d is %q, ", i, Mark)
	}
	text.WriteString("password number x")
	want.WriteString("password number x")
	if got := secretsOf(texts...).Text(text.String()); got != want.String() {
		t.Error("got another text")
	}
}

// TestSeveral masks the secrets of several calls at once, also those that overlap.
func TestSeveral(t *testing.T) {
	outer := secretsOf("abcdefgh")
	inner := New(outer)
	inner.Add(func() Found { return Found{Texts: []string{"efghijkl"}} })
	if got := inner.Text("-abcdefghijkl-abcdefgh-efghijkl"); got != "-(secret)-(secret)-(secret)" {
		t.Errorf("got %q", got)
	}
	if got := Text("-abcdefghijklmnop-", inner, secretsOf("ijklmnop"), nil); got != "-(secret)-" {
		t.Errorf("got %q", got)
	}
	// A source is asked once, and later ones too.
	asked := 0
	inner.Add(func() Found {
		asked++
		return Found{Keys: []string{"later key", "declared"}, Names: []string{"declared"}}
	})
	for range 2 {
		if got := inner.Text("later key declared"); got != "(secret) declared" || asked != 1 {
			t.Errorf("got %q, asked %d times", got, asked)
		}
	}
	if FromContext(NewContext(context.Background(), inner)) != inner || FromContext(context.Background()) != nil {
		t.Error("a context has other secrets")
	}
}

// TestBudget has more secrets than are looked for in all forms. They are still looked for as they are.
func TestBudget(t *testing.T) {
	var texts []string
	for i := range 100_000 {
		texts = append(texts, fmt.Sprint("password number ", i))
	}
	first, last := texts[0], "one secret too many"
	s := secretsOf(append(texts, last)...)
	if got := s.Text(first + " and " + last); got != "(secret) and (secret)" {
		t.Errorf("got %q", got)
	}
	encoded := base64.StdEncoding.EncodeToString
	if got := s.Text(encoded([]byte(first)) + " " + encoded([]byte(last))); got != "(secret) "+encoded([]byte(last)) {
		t.Errorf("got %q", got)
	}
}

func TestPath(t *testing.T) {
	s := New(nil)
	s.Add(func() Found {
		return Found{
			Texts: []string{"password", "hunter2", `a "quoted" key`, "a.dotted[0]"},
			Keys:  []string{"username", "secret key"},
			Names: []string{"login", "password", "username", "tags"},
		}
	})
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
		"tags.a.dotted[0]":              "tags[…][…][…]", // by Field, which is not for keys
		"tags.dotted[0]":                "tags.dotted[0]",
	} {
		if got := s.Path(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if got := secretsOf("hunter2").Path("hunter2.hunter2"); got != "hunter2[…]" {
		t.Errorf("got %s", got)
	}
}

// selfless is what authors panic with when all goes wrong.
type selfless struct{}

func (selfless) Error() string { panic(selfless{}) }

func (selfless) String() string { panic(selfless{}) }

func TestTextOf(t *testing.T) {
	for want, v := range map[string]any{
		"failed": errors.New("failed"),
		"5":      5,
		"mask.selfless, which has no text, since the method that makes it panics": selfless{},
	} {
		if got := TextOf(v); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("hunter2", "efghijkl", "a hunter2 efghijkl")
	f.Fuzz(func(t *testing.T, a, b, text string) {
		s := secretsOf(a, b)
		got := s.Text(text + a + text)
		if len(a) >= minSecret && strings.TrimSpace(a) != "" && !strings.Contains(Mark, a) &&
			strings.Contains(strings.ReplaceAll(got, Mark, "\x00"), a) {
			t.Errorf("%q is told: %q", a, got)
		}
		s.Path(text)
	})
}

// BenchmarkText masks a text of 8 KiB. The second half of its cases has eight times as many secrets.
func BenchmarkText(b *testing.B) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog ", 200)
	for _, n := range []int{1, 1000, 8000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var texts []string
			for i := range n {
				texts = append(texts, fmt.Sprintf("password number %d", i))
			}
			for b.Loop() {
				secretsOf(texts...).Text(text)
			}
		})
	}
}
