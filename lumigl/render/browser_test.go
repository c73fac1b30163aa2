package render_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/render"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// pictures is the folder for screenshots for visual inspection. If it is empty, none are saved.
var pictures = os.Getenv("LUMI_PICTURES")

// newBrowser starts a browser. It skips the test if none is installed.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("Chromium is not installed; run 'apt-get install chromium'")
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1440, 900),
	}
	for _, flag := range []string{"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("cannot start %s: %v", path, err)
	}
	return ctx
}

// watched records the errors and the requests of a page.
type watched struct {
	sync.Mutex
	said     []string
	requests []string
}

// watch records the errors reported by the browser and the requests of the page.
func watch(t *testing.T, ctx context.Context) *watched {
	t.Helper()
	w := &watched{}
	must.Do(t, chromedp.Listen(ctx, func(event any) {
		w.Lock()
		defer w.Unlock()
		switch e := event.(type) {
		case *cdpruntime.EventConsoleAPICalled:
			w.said = append(w.said, fmt.Sprintf("%s: %v", e.Type, e.Args))
		case *cdpruntime.EventExceptionThrown:
			w.said = append(w.said, fmt.Sprintf("%+v", e.ExceptionDetails))
		case *cdplog.EventEntryAdded:
			w.said = append(w.said, e.Entry.Text)
		case *network.EventRequestWillBeSent:
			w.requests = append(w.requests, e.Request.URL)
		}
	}))
	return w
}

// open opens a page for doc in a new tab.
func open(t *testing.T, browser context.Context, doc lumigl.Document) (context.Context, *watched) {
	t.Helper()
	var page bytes.Buffer
	must.Do(t, render.Page(&page, doc, render.Options{Title: "prod.json"}))
	file := filepath.Join(t.TempDir(), "page.html")
	must.Do(t, os.WriteFile(file, page.Bytes(), 0o600))
	tab, stop := chromedp.NewContext(browser)
	t.Cleanup(stop)
	w := watch(t, tab)
	start := time.Now()
	run(t, tab, call(cdplog.Enable, cdp.Empty{}), call(network.Enable, network.EnableParams{}), chromedp.Navigate("file://"+filepath.ToSlash(file)),
		chromedp.WaitVisible(chromedp.CSS("html[data-ready]")))
	t.Logf("%d vertices, %d bytes: ready after %v", doc.Base().Len(), page.Len(), time.Since(start).Round(time.Millisecond))
	return tab, w
}

// call returns an action that sends a command of the browser's protocol.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, command, params)
		return err
	})
}

func run(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		_, _, line, _ := runtime.Caller(1)
		t.Fatalf("line %d: %v", line, err)
	}
}

// eval returns the value of a JavaScript expression in the page.
func eval[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("evaluating %s: %v", expression, err)
	}
	return value
}

// eventually waits until a JavaScript expression is true.
func eventually(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(time.Minute))); err != nil {
		t.Fatalf("%s did not become true: %v; the page is: %s", expression, err, eval[string](t, ctx, "document.activeElement.id + document.getElementById(\"search\").value + document.body.innerText.slice(0, 300)"))
	}
}

func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if pictures == "" {
		return
	}
	run(t, ctx, chromedp.Sleep(400*time.Millisecond))
	png := must.Get(chromedp.Run(ctx, chromedp.CaptureScreenshot()))(t)
	must.Do(t, os.WriteFile(filepath.Join(pictures, name+".png"), png, 0o600))
}

// clusters generates a snapshot of n resources: networks with machines and databases.
func clusters(t testing.TB, n int) *lumigl.Snapshot {
	t.Helper()
	var b strings.Builder
	count := 0
	add := func(typ, name, properties string) string {
		urn := "urn:lumi:prod::my/cluster:index::" + typ + "::" + name
		if count == n {
			return urn
		}
		if count++; count > 1 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `%q: {"type": %q, "id": "id-%d", "properties": {%s}}`, urn, typ, count, properties)
		return urn
	}
	b.WriteString(`{"resources": {`)
	for i := 0; count < n; i++ {
		vpc := add("aws:ec2/vpc:VPC", fmt.Sprintf("main-%d", i), `"cidrBlock": "10.0.0.0/16"`)
		group := add("aws:ec2/securityGroup:SecurityGroup", fmt.Sprintf("admin-%d", i), fmt.Sprintf(`"vpcId": {"#ref": %q}, "ports": [22, 80]`, vpc))
		role := add("aws:iam/role:Role", fmt.Sprintf("role-%d", i), `"policy": "{\"Version\": 1}"`)
		var subnets []string
		for j := range i%3 + 1 {
			subnets = append(subnets, add("aws:ec2/subnet:Subnet", fmt.Sprintf("zone-%d-%c", i, 'a'+j), fmt.Sprintf(`"vpcId": {"#ref": %q}`, vpc)))
		}
		for j := range 2 + i*7%5 + 24*(i%5/4) {
			add("aws:ec2/instance:Instance", fmt.Sprintf("web-%d-%d", i, j), fmt.Sprintf(`"imageId": "ami-f6035893", "ip": "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
				"password": {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hunter2"},
				"role": {"#ref": %q, "property": "arn"}, "securityGroupIds": [{"#ref": %q}], "subnetId": {"#ref": %q}`,
				role, group, subnets[j%len(subnets)]))
		}
		if i%3 == 1 {
			add("aws:rds/instance:Database", fmt.Sprintf("db-%d", i), fmt.Sprintf(`"size": 100, "subnets": [{"#ref": %q}, {"#ref": %q}], "vpc": {"#ref": %q}`, subnets[0], subnets[1], vpc))
		}
		if i%4 == 2 {
			add("aws:s3/bucket:Bucket", fmt.Sprintf("assets-%d", i), `"acl": "private"`)
		}
	}
	b.WriteString("}}")
	return must.Get(lumigl.ParseSnapshot(b.String()))(t)
}

func TestPage(t *testing.T) {
	browser := newBrowser(t)
	for _, n := range []int{10, 300, 3000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			snapshot := clusters(t, n)
			tab, w := open(t, browser, snapshot)
			if got := eval[string](t, tab, `document.getElementById("canvas").dataset.nodes`); got != strconv.Itoa(n) {
				t.Errorf("page has %s nodes, want %d", got, n)
			}
			if got, want := eval[string](t, tab, `document.getElementById("canvas").dataset.arrows`), strconv.Itoa(arrows(snapshot)); got != want {
				t.Errorf("page has %s arrows, want %s", got, want)
			}
			picture(t, tab, strconv.Itoa(n))
			useSearch(t, tab)
			picture(t, tab, strconv.Itoa(n)+"-search")
			useDetails(t, tab)
			picture(t, tab, strconv.Itoa(n)+"-details")
			useZoom(t, tab)
			run(t, tab, call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
			}))
			eventually(t, tab, `getComputedStyle(document.body).backgroundColor === "rgb(16, 20, 27)"`)
			picture(t, tab, strconv.Itoa(n)+"-dark")
			w.Lock()
			defer w.Unlock()
			if len(w.said) > 0 {
				t.Errorf("the browser reported %q, want no errors", w.said)
			}
			if len(w.requests) != 1 || !strings.HasPrefix(w.requests[0], "file://") {
				t.Errorf("the page requested %q, want only its own file", w.requests)
			}
		})
	}
}

func TestHostilePage(t *testing.T) {
	browser := newBrowser(t)
	doc := parse(t, "hostile.json")
	tab, w := open(t, browser, doc)
	for v := range doc.Base().Vertices() {
		run(t, tab, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = "#" + encodeURIComponent(%q)`, "nobody")))
		run(t, tab, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = "#" + %s`, strconv.QuoteToASCII(url.PathEscape(v.Key())))))
		selected := fmt.Sprintf(`document.getElementById("canvas").dataset.selected === %s`, jsonOf(t, v.Key()))
		eventually(t, tab, selected)
		if got := eval[int](t, tab, `document.querySelectorAll("#details .links button").length`); got != 2 {
			t.Errorf("details of %q list %d neighbors, want 2", v.Key(), got)
		}
	}
	if got := eval[int](t, tab, `document.scripts.length`); got != 2 {
		t.Errorf("page has %d scripts, want 2", got)
	}
	if eval[bool](t, tab, `document.getElementById("side").checkVisibility()`) {
		t.Error("the legend is visible on a page without types")
	}
	run(t, tab, chromedp.SendKeys(chromedp.CSS("#search"), "<SCRIPT>"))
	eventually(t, tab, `document.getElementById("found-title").textContent === "1 found"`)
	picture(t, tab, "hostile")
	w.Lock()
	defer w.Unlock()
	if len(w.said) > 0 || len(w.requests) != 1 {
		t.Errorf("the browser reported %q and requested %q, want no errors and one request", w.said, w.requests)
	}
}

// jsonOf returns a string as a JavaScript literal.
func jsonOf(t *testing.T, s string) string {
	t.Helper()
	return string(must.Get(json.Marshal(s))(t))
}

// arrows returns the number of pairs of vertices connected by references.
func arrows(doc lumigl.Document) int {
	pairs := map[[2]string]bool{}
	for v := range doc.Base().Vertices() {
		for to := range v.Properties.References() {
			pairs[[2]string{v.Key(), to.Key()}] = true
		}
	}
	return len(pairs)
}

func useSearch(t *testing.T, tab context.Context) {
	t.Helper()
	// Press the key for real, since the page must not type it into the search box.
	run(t, tab, call(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "keyDown", Key: "/", Text: "/"}))
	eventually(t, tab, `document.activeElement.id === "search"`)
	run(t, tab, chromedp.SendKeys(chromedp.CSS("#search"), "web-0-1"))
	eventually(t, tab, `document.getElementById("found-title").textContent === "1 found"`)
	run(t, tab, chromedp.KeyEvent(kb.Enter))
	eventually(t, tab, `document.getElementById("canvas").dataset.selected.endsWith("Instance::web-0-1")`)
	run(t, tab, chromedp.KeyEvent(kb.Escape), chromedp.SendKeys(chromedp.CSS("#search"), "no such thing"))
	eventually(t, tab, `document.getElementById("found-title").textContent === "Nothing found"`)
	run(t, tab, chromedp.KeyEvent(kb.Escape+kb.Escape))
	eventually(t, tab, `document.getElementById("found").hidden && document.getElementById("details").hidden`)
	run(t, tab, chromedp.SendKeys(chromedp.CSS("#search"), "subnet"))
	eventually(t, tab, `document.querySelectorAll("#results button").length > 0`)
}

func useDetails(t *testing.T, tab context.Context) {
	t.Helper()
	run(t, tab, chromedp.SendKeys(chromedp.CSS("#search"), kb.Escape), chromedp.SendKeys(chromedp.CSS("#search"), "web-0-0"),
		chromedp.SendKeys(chromedp.CSS("#search"), kb.Enter))
	eventually(t, tab, `!document.getElementById("details").hidden`)
	text := eval[string](t, tab, `document.getElementById("details").innerText`)
	for _, want := range []string{"web-0-0", "aws:ec2/instance:Instance", "(secret)", "(not known yet)", "→ role-0 (arn)", "Depends on (3)", `"ami-f6035893"`} {
		if !strings.Contains(text, want) {
			t.Errorf("details do not contain %q:\n%s", want, text)
		}
	}
	// Click the node, which is now at the center.
	run(t, tab, chromedp.Click(`//aside//button[contains(., "zone-0-a")]`))
	eventually(t, tab, `document.getElementById("canvas").dataset.selected.endsWith("Subnet::zone-0-a")`)
	run(t, tab, chromedp.Click(`//aside//a[contains(., "main-0")]`))
	eventually(t, tab, `document.getElementById("canvas").dataset.selected.endsWith("VPC::main-0")`)
	run(t, tab, chromedp.Focus(chromedp.CSS("#canvas")), chromedp.KeyEvent(kb.ArrowLeft))
	eventually(t, tab, `!document.getElementById("canvas").dataset.selected.endsWith("VPC::main-0")`)
}

func useZoom(t *testing.T, tab context.Context) {
	t.Helper()
	zoom := func() float64 {
		return must.Get(strconv.ParseFloat(eval[string](t, tab, `document.getElementById("canvas").dataset.zoom`), 64))(t)
	}
	run(t, tab, chromedp.KeyEvent(kb.Escape+kb.Escape), chromedp.KeyEvent("0"), chromedp.Sleep(500*time.Millisecond))
	before := zoom()
	run(t, tab, chromedp.Click(chromedp.CSS("#zoom-in")))
	eventually(t, tab, fmt.Sprintf(`Number(document.getElementById("canvas").dataset.zoom) > %g`, before*1.25))
	run(t, tab, chromedp.Evaluate[chromedp.Void](`document.getElementById("canvas").dispatchEvent(new WheelEvent("wheel", {deltaY: -200, cancelable: true}))`))
	eventually(t, tab, fmt.Sprintf(`Number(document.getElementById("canvas").dataset.zoom) > %g`, before*1.6))
	run(t, tab, chromedp.KeyEvent("0"))
	eventually(t, tab, fmt.Sprintf(`Math.abs(Number(document.getElementById("canvas").dataset.zoom) - %g) < 0.002`, before))
}
