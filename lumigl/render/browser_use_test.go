package render_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/render"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// selected returns a JavaScript condition that is true if the key of the selected node has the given suffix or, if the
// suffix is "", if no node is selected.
func selected(key string) string {
	if key == "" {
		return `document.getElementById("details").hidden && !location.href.includes("#")`
	}
	return fmt.Sprintf(`document.getElementById("canvas").dataset.selected.endsWith(%q) && !document.getElementById("details").hidden && location.hash.endsWith(encodeURIComponent(%q))`, key, key)
}

func TestAddress(t *testing.T) {
	browser := newBrowser(t)
	tab, w := open(t, browser, clusters(t, 300))
	button := func(name string) chromedp.Action[chromedp.Void] {
		return chromedp.Click(fmt.Sprintf(`//aside//button[contains(., %q)]`, name))
	}
	run(t, tab, chromedp.SendKeys(chromedp.CSS("#search"), "web-0-0"+kb.Enter))
	eventually(t, tab, selected("::web-0-0"))
	run(t, tab, button("zone-0-a"))
	eventually(t, tab, selected("::zone-0-a"))
	run(t, tab, chromedp.NavigateBack())
	eventually(t, tab, selected("::web-0-0"))
	// If the browser denies access to the clipboard, the page selects the key instead.
	run(t, tab, chromedp.Click(chromedp.CSS("button[aria-label='Copy key']")))
	eventually(t, tab, `document.querySelector("button[aria-label='Copy key']").textContent === "Copied" || getSelection().toString().endsWith("::web-0-0")`)
	run(t, tab, chromedp.NavigateForward())
	eventually(t, tab, selected("::zone-0-a"))
	run(t, tab, chromedp.Reload())
	eventually(t, tab, `document.documentElement.dataset.ready === ""`)
	eventually(t, tab, selected("::zone-0-a"))
	if focus := eval[string](t, tab, "document.activeElement.tagName"); focus != "BODY" {
		t.Errorf("focus = %s, want BODY, since the page must not move it", focus)
	}
	if zoom := eval[float64](t, tab, `Number(document.getElementById("canvas").dataset.zoom)`); zoom < 0.4 {
		t.Errorf("zoom = %g, want at least 0.4 for a readable node", zoom)
	}
	run(t, tab, chromedp.Evaluate[chromedp.Void](`location.hash = "#gone"`))
	eventually(t, tab, `document.getElementById("details").hidden && document.getElementById("status").textContent === "gone is not drawn here"`)
	run(t, tab, chromedp.NavigateBack(), chromedp.Click(chromedp.CSS("#details header button")))
	eventually(t, tab, selected(""))
	w.Lock()
	defer w.Unlock()
	if len(w.said) > 0 {
		t.Errorf("the browser reported %q, want no errors", w.said)
	}
}

// touch returns a touch event at the given points, as alternating x and y coordinates.
func touch(kind input.DispatchTouchEventType, at ...float64) chromedp.Action[chromedp.Void] {
	points := []*input.TouchPoint{}
	for i := 0; i < len(at); i += 2 {
		id := float64(i)
		points = append(points, &input.TouchPoint{X: at[i], Y: at[i+1], ID: &id})
	}
	return call(input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
}

func TestLongNamesInPage(t *testing.T) {
	browser := newBrowser(t)
	name := func(i int) string {
		return fmt.Sprintf(`module.network["europe"].module.subnets["private"].aws_subnet.this[%d]`, i)
	}
	g := &lumigl.Graph{}
	for i := range 2 {
		must.Get(g.Add(name(i)))(t)
	}
	tab, w := open(t, browser, g)
	run(t, tab, chromedp.Evaluate[chromedp.Void](`window.drawn = []; const usual = CanvasRenderingContext2D.prototype.fillText;
		CanvasRenderingContext2D.prototype.fillText = function(text, ...rest) { drawn.push(text); usual.call(this, text, ...rest); }; void 0`))
	run(t, tab, chromedp.Click(chromedp.CSS("#zoom-in")))
	for i := range 2 {
		eventually(t, tab, fmt.Sprintf(`drawn.some((text) => text.startsWith("module.") && text.includes("…") && text.endsWith(".this[%d]"))`, i))
	}
	run(t, tab, chromedp.SendKeys(chromedp.CSS("#search"), "private"))
	eventually(t, tab, `document.querySelectorAll("#results button").length === 2`)
	picture(t, tab, "long-names")
	for i := range 2 {
		button := fmt.Sprintf(`document.querySelectorAll("#results button")[%d]`, i)
		// The start is clipped, and the end is within the list.
		if !eval[bool](t, tab, button+`.querySelector(".start").scrollWidth > `+button+`.querySelector(".start").clientWidth + 9`) ||
			!eval[bool](t, tab, button+`.querySelector(".end").getBoundingClientRect().right <= document.getElementById("side").getBoundingClientRect().right`) {
			t.Errorf("result %d is not clipped before its end", i)
		}
		text := eval[string](t, tab, button+`.textContent`)
		title := eval[string](t, tab, button+`.title`)
		if text != name(i) || title != name(i) {
			t.Errorf("result %d has text %q and title %q, want %q", i, text, title, name(i))
		}
	}
	names := accessibleNames(t, tab)
	for i := range 2 {
		if !slices.Contains(names, jsonOf(t, name(i))) {
			t.Errorf("accessible names %s do not contain %s", names, name(i))
		}
	}
	run(t, tab, chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("0"), chromedp.Sleep(400*time.Millisecond))
	// Hovering over a node on the canvas shows its full name.
	eventually(t, tab, `(() => {
		const canvas = document.getElementById("canvas");
		for (let x = 0; x < canvas.clientWidth; x += 50) {
			for (let y = 0; y < canvas.clientHeight; y += 20) {
				const at = canvas.getBoundingClientRect();
				canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: at.x + x, clientY: at.y + y }));
				if (canvas.title.trim() === `+jsonOf(t, name(1))+`) {
					return true;
				}
			}
		}
		return false;
	})()`)
	w.Lock()
	defer w.Unlock()
	if len(w.said) > 0 {
		t.Errorf("the browser reported %q, want no errors", w.said)
	}
}

// accessibleNames returns the accessible names of the buttons as JSON strings.
func accessibleNames(t *testing.T, tab context.Context) []string {
	t.Helper()
	var names []string
	run(t, tab, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		tree, err := cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return err
		}
		for _, n := range tree.Nodes {
			if n.Name != nil && string(n.Role.Value) == `"button"` {
				names = append(names, string(n.Name.Value))
			}
		}
		return nil
	}))
	return names
}

func TestPhone(t *testing.T) {
	browser := newBrowser(t)
	tab, w := open(t, browser, clusters(t, 10))
	run(t, tab,
		call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 360, Height: 740, DeviceScaleFactor: 3, Mobile: true}),
		call(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 2}),
		chromedp.Reload())
	eventually(t, tab, `innerWidth === 360 && document.documentElement.dataset.ready === "" && document.getElementById("canvas").width === 3 * 360`)
	cut := `[...document.querySelectorAll("header *")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth).map((e) => e.id).join()`
	if outside := eval[string](t, tab, cut); outside != "" {
		t.Errorf("the header is clipped at %s", outside)
	}
	zoom := func() float64 { return eval[float64](t, tab, `Number(document.getElementById("canvas").dataset.zoom)`) }
	before := zoom()
	run(t, tab, touch("touchStart", 150, 400, 210, 400), touch("touchMove", 120, 400, 240, 400), touch("touchMove", 105, 400, 255, 400), touch("touchEnd"))
	eventually(t, tab, fmt.Sprintf(`Math.abs(Number(document.getElementById("canvas").dataset.zoom) / %g - 2.5) < 0.02`, before))
	run(t, tab, touch("touchStart", 50, 400, 310, 400), touch("touchMove", 128, 400, 232, 400), touch("touchEnd"))
	eventually(t, tab, fmt.Sprintf(`Math.abs(Number(document.getElementById("canvas").dataset.zoom) / %g - 1) < 0.02`, before))
	if scale := eval[float64](t, tab, "visualViewport.scale"); scale != 1 {
		t.Errorf("scale of the page after pinching = %g, want 1", scale)
	}
	if !eval[bool](t, tab, `document.getElementById("details").hidden`) {
		t.Error("pinching selected a node")
	}
	run(t, tab, chromedp.SendKeys(chromedp.CSS("#search"), "web-0-1"))
	eventually(t, tab, `document.querySelector("#results button")?.checkVisibility()`)
	picture(t, tab, "phone-search")
	run(t, tab, chromedp.Click(chromedp.CSS("#results button")))
	eventually(t, tab, selected("::web-0-1"))
	run(t, tab, chromedp.Sleep(400*time.Millisecond))
	// The node is now at the center of the area not covered by the details.
	middle := eval[[]float64](t, tab, `(() => { const r = document.getElementById("stage").getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2, r.bottom]; })()`)
	if top := eval[float64](t, tab, `document.getElementById("details").getBoundingClientRect().top`); top < middle[2] {
		t.Errorf("the details start at %g, above the end of the graph at %g", top, middle[2])
	}
	picture(t, tab, "phone-details")
	run(t, tab, chromedp.Click(chromedp.CSS("#details header button")))
	eventually(t, tab, selected(""))
	w.Lock()
	defer w.Unlock()
	if len(w.said) > 0 {
		t.Errorf("the browser reported %q, want no errors", w.said)
	}
}

func TestPrint(t *testing.T) {
	browser := newBrowser(t)
	tab, _ := open(t, browser, clusters(t, 10))
	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	corner := `document.getElementById("canvas").getContext("2d").getImageData(0, 0, 1, 1).data[0]`
	run(t, tab, call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: dark}))
	eventually(t, tab, corner+" === 16")
	run(t, tab, call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: dark}))
	eventually(t, tab, corner+" === 255")
	picture(t, tab, "paper")
}

// TestAccessibility runs axe, which reports accessibility problems.
func TestAccessibility(t *testing.T) {
	axe, err := os.ReadFile("testdata/mermaid/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe is not installed; run 'npm ci --prefix lumigl/render/testdata/mermaid'")
	}
	browser := newBrowser(t)
	tab, _ := open(t, browser, clusters(t, 300))
	run(t, tab, chromedp.Evaluate[chromedp.Void](string(axe)+"; void 0"))
	faults := func(when string) {
		t.Helper()
		const ask = `axe.run().then((all) => JSON.stringify(all.violations.map((v) => [v.id, v.help, v.nodes.map((n) => n.html)]), null, 1))`
		found, err := chromedp.Run(tab, chromedp.Evaluate[string](ask, chromedp.EvalAwaitPromise))
		if err != nil || found != "[]" {
			t.Errorf("%s: axe reported %s (error: %v), want no problems", when, found, err)
		}
	}
	faults("at the beginning")
	run(t, tab, chromedp.SendKeys(chromedp.CSS("#search"), "web-0-0"+kb.Enter))
	eventually(t, tab, selected("::web-0-0"))
	faults("with results and details")
	run(t, tab, chromedp.Click(chromedp.CSS("#help-button")))
	faults("with help")
	run(t, tab, chromedp.KeyEvent(kb.Escape), call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	}))
	faults("in the dark")
}

func TestFirefox(t *testing.T) {
	path := ""
	for _, name := range []string{"firefox", "firefox-esr"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("Firefox is not installed; run 'apt-get install firefox-esr'")
	}
	folder := t.TempDir()
	var page bytes.Buffer
	must.Do(t, render.Page(&page, clusters(t, 10), render.Options{Title: "prod.json"}))
	file, picture := filepath.Join(folder, "page.html"), filepath.Join(folder, "page.png")
	must.Do(t, os.WriteFile(file, page.Bytes(), 0o600))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-remote", "--profile", t.TempDir(), "--window-size=1440,900",
		"--screenshot", picture, "file://"+filepath.ToSlash(file))
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", path, err, said)
	}
	text := must.Get(os.ReadFile(picture))(t)
	seen := must.Get(png.Decode(bytes.NewReader(text)))(t)
	// The color of the first type occurs in the legend and, to the right of it, in the graph.
	first := color.RGBA{R: 44, G: 103, B: 186, A: 255}
	left, right := count(seen, first, 0, 250), count(seen, first, 250, 1440)
	if left == 0 || right == 0 {
		t.Errorf("Firefox drew %d pixels of the first type in the legend and %d in the graph, want some in each", left, right)
	}
	if pictures != "" {
		must.Do(t, os.WriteFile(filepath.Join(pictures, "firefox.png"), text, 0o600))
	}
}

// count returns the number of pixels in a range of columns that have approximately the given color.
func count(seen image.Image, want color.RGBA, from, to int) int {
	n := 0
	near := func(a uint32, b uint8) bool { return max(int(a>>8), int(b))-min(int(a>>8), int(b)) <= 2 }
	for x := from; x < min(to, seen.Bounds().Max.X); x++ {
		for y := range seen.Bounds().Max.Y {
			if r, g, b, _ := seen.At(x, y).RGBA(); near(r, want.R) && near(g, want.G) && near(b, want.B) {
				n++
			}
		}
	}
	return n
}

func TestEmptyPage(t *testing.T) {
	browser := newBrowser(t)
	tab, _ := open(t, browser, parse(t, "pending.json"))
	text := eval[string](t, tab, "document.body.innerText")
	for _, want := range []string{"0 resources, 0 dependencies, 1 pending change", "This graph is empty."} {
		if !strings.Contains(text, want) {
			t.Errorf("page does not contain %q:\n%s", want, text)
		}
	}
}

// The canvas is never empty in any frame while its container is resized.
func TestResize(t *testing.T) {
	browser := newBrowser(t)
	tab, _ := open(t, browser, clusters(t, 10))
	run(t, tab, chromedp.Evaluate[chromedp.Void](`
		window.sizes = [];
		const context = document.getElementById("canvas").getContext("2d");
		const look = () => sizes.push(context.canvas.width + ": " + context.getImageData(2, 2, 1, 1).data[3]);
		new ResizeObserver(look).observe(document.getElementById("stage"));`))
	for i := range 3 {
		eventually(t, tab, fmt.Sprintf("sizes.length === %d", i+1))
		run(t, tab, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.body.style.paddingRight = "%dpx"`, 100*(i+1))))
	}
	eventually(t, tab, "sizes.length === 4")
	sizes := eval[string](t, tab, "sizes.join()")
	if strings.Count(sizes, ": 255") != 4 {
		t.Errorf("widths and opacities = %s, want an opacity of 255 in all four frames", sizes)
	}
}
