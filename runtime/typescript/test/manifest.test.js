// Lumi.yaml, as lumi-program reads it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseManifest } from "../dist/bin/manifest.js";

const parse = (text) => parseManifest(Buffer.from(text), "f");

/** Asserts that a text is refused with just these lines. */
function refuses(text, ...lines) {
    assert.throws(() => parse(text), { exitCode: 2, message: lines.join("\n") }, text);
}

test("a manifest has the names", () => {
    const both = { package: "p", environment: "e" };
    for (const [text, expected] of [
        ["", {}],
        ["# names\n", {}],
        ["---\n", {}],
        ["~", {}],
        ["package: my/cluster\nenvironment: dev\n", { package: "my/cluster", environment: "dev" }],
        ["\ufeff---\r\n# names\r\npackage: p # ours\r\n\r\nenvironment: e\r\n...\r\n", both],
        ["package: p\renvironment: e\r", both],
        ["\"package\": 'my/cluster' # ours\n'environment':   \"dev\"", { package: "my/cluster", environment: "dev" }],
        ["other:\n  package: no\nlist:\n- also: no\npackage:\tp\n", { package: "p" }],
        ["more: |\n  environment: no\nlist: [a, b]\npackage: p", { package: "p" }],
        ["environment: 'true'", { environment: "true" }],
        ["environment: no", { environment: "no" }],
        ["environment: !!str 7", { environment: "7" }],
        ["{ package: p, environment: e }", both],
        ["? package\n: p", { package: "p" }],
        ["package:\n  p", { package: "p" }],
        ['package: "\\x70"', { package: "p" }],
        ["environment: |-\n  dev\n", { environment: "dev" }],
        ["package: &a p\nenvironment: *a", { package: "p", environment: "p" }],
        ["name: &a p\n&k package: *a", { package: "p" }],
        ["b: &b {package: p}\n<<: *b\nk: &k package\n*k : p\nx: 1\nx: 2", {}],
        ["7: a\n[b]: c\n? {d: e}\n: f\n~: g\n*x : h", {}],
        ["plugins: {aws: ./aws}\nx: !ours {a: b}\npackage: p", { package: "p" }],
    ]) {
        assert.deepEqual(parse(text), expected, text);
    }
});

test("syntax errors have their places, and nothing else is reported", () => {
    refuses("package: 'p", "f:1:12: missing closing 'quote");
    refuses("a: ]\npakage: p\nb: 'c", 'f:1:4: unexpected "]"');
    refuses("environment: dev\n\tpackage: p", "f:2:1: tabs are not allowed as indentation; use spaces");
    refuses("package: @p", "f:1:10: plain value cannot start with reserved character @; put the value in quotes");
    const form = 'invalid YAML; align keys, put a space after each colon, close brackets, and quote values with ": "';
    refuses("package: p\n environment: dev", `f:1:10: ${form}`);
    refuses("environment: a: b\npackage: p\n  q: r", `f:1:14: ${form}`, `f:2:10: ${form}`);
    refuses("environment:dev\npackage: p", `f:1:1: ${form}`);
    refuses("package: p\nenvironment:dev", `f:2:1: ${form}`);
    refuses("package p\nenvironment: e", `f:1:1: ${form}`);
    refuses("package: 'p' q", `f:1:14: ${form}`);
    refuses("a: [b", `f:1:6: ${form}`);
    refuses("package: p\n---\npackage: q", "f:2:1: a second document begins here; the file must have only one");
    const reserved = "plain value cannot start with reserved character @; put the value in quotes";
    refuses("a: @\n".repeat(13), ...Array.from({ length: 10 }, (_, i) => `f:${i + 1}:4: ${reserved}`),
        "f: 3 more errors");
});

test("what is not an object of keys is refused", () => {
    const expected = 'expected lines such as "package: my/cluster", found';
    refuses("package:p", `f:1:1: ${expected} a string`);
    refuses("\n- package: p", `f:2:1: ${expected} a list`);
    refuses("7", `f:1:1: ${expected} a number`);
});

test("keys that are like ours are refused", () => {
    refuses("pakage: p\nPACKAGE: q\n'environmnet': e\nenv: dev\nmodules: {}\n",
        'f:1:1: unknown key "pakage"; did you mean "package"?',
        'f:2:1: unknown key "PACKAGE"; did you mean "package"?',
        'f:3:1: unknown key "environmnet"; did you mean "environment"?');
});

test("keys are set once", () => {
    refuses('package: p\nenvironment: e\n\npackage: q\n"package": r',
        "f:4:1: package is already set on line 1; remove one of the two",
        "f:5:1: package is already set on line 1; remove one of the two");
    refuses("package: 7\npackage: p",
        "f:1:10: package must be a string, not a number; write package: NAME",
        "f:2:1: package is already set on line 1; remove one of the two");
});

test("the values are strings", () => {
    for (const [value, message] of [
        ["", "environment has no value; write environment: NAME"],
        [" # e", "environment has no value; write environment: NAME"],
        [" ~", "environment has no value; write environment: NAME"],
        [" null", "environment has no value; write environment: NAME"],
        [" 7", 'environment must be a string, not a number; write environment: "7"'],
        [" 0x10", 'environment must be a string, not a number; write environment: "0x10"'],
        [" True", 'environment must be a string, not a boolean; write environment: "True"'],
        [" [e]", "environment must be a string, not a list; write environment: NAME"],
        [" { e: f }", "environment must be a string, not an object; write environment: NAME"],
        ["\n  e: f", "environment must be a string, not an object; write environment: NAME"],
        [" !ours e", 'environment must be a string, not a value tagged !ours; write environment: "e"'],
        [" *nowhere", "undefined anchor; write environment: NAME"],
    ]) {
        assert.throws(() => parse(`environment:${value}`), (error) => {
            assert.equal(error.message.replace(/^f:\d:\d+: /, ""), message, value);
            return true;
        });
    }
    refuses("{ environment, package }",
        "f:1:3: environment has no value; write environment: NAME",
        "f:1:16: package has no value; write package: NAME");
    refuses("? package", "f:1:3: package has no value; write package: NAME");
    refuses("a: &a [x]\nenvironment: *a", "f:2:14: environment must be a string, not a list; write environment: NAME");
});

test("the values are names", () => {
    const words =
        "must be made of words that start with a lower-case letter and have lower-case letters, digits, - and _, " +
        "joined by /";
    refuses("package: My\nenvironment: a b\npakage: p",
        `f:1:10: package "My": ${words}`,
        'f:2:14: environment "a b": must be a word without colons and spaces',
        'f:3:1: unknown key "pakage"; did you mean "package"?');
    const word = "must be a word without colons and spaces";
    refuses("environment: |\n  dev\n", String.raw`f:1:14: environment "dev\n": ${word}`);
    refuses("environment:\n  dev\n  prod", `f:2:3: environment "dev prod": ${word}`);
});

test("places count from the first visible character", () => {
    refuses("\ufeffpackage: 7", "f:1:10: package must be a string, not a number; write package: NAME");
    refuses("# größe 🙂\r\npackage: 7\r\n", "f:2:10: package must be a string, not a number; write package: NAME");
});

test("no manifest exhausts time or memory", () => {
    for (const [text, message] of [
        ["[".repeat(50_000), /^f:1:\d+: nested deeper than 100 levels$/],
        [`a: ${"- ".repeat(50_000)}`, /^f:1:\d+: /],
        ["? ".repeat(50_000), /^f:1:\d+: nested deeper than 100 levels$/],
        ["{a: ".repeat(50_000), /^f:1:\d+: nested deeper than 100 levels$/],
        ["#".repeat(2 ** 18 + 1), /^f: larger than 256 KiB$/],
    ]) {
        assert.throws(() => parse(text), { message }, text.slice(0, 10));
    }
    assert.throws(() => parseManifest(Buffer.from([0x61, 0xff]), "f"), { message: "f: not valid UTF-8" });
    // Nothing is expanded: these aliases stand for 10 ** 20 strings.
    const bomb = Array.from({ length: 20 }, (_, i) => `b${i + 1}: &b${i + 1} [${`*b${i},`.repeat(10)}]\n`);
    assert.deepEqual(parse(`b0: &b0 x\n${bomb.join("")}package: p`), { package: "p" });
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}: v\n`);
    assert.deepEqual(parse(`${keys.join("")}package: p`), { package: "p" });
});
