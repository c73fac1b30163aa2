// Expressions, which compute values from outputs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inspect } from "node:util";

import * as lumi from "../dist/index.js";
import { evaluate, signatures } from "./wire.js";

const site = { host: lumi.required(lumi.string), ports: lumi.optional(lumi.list(lumi.number)) };
const shape = {
    text: lumi.optional(lumi.string),
    level: lumi.optional(lumi.enum(() => ({ Low: "low", High: "high" }))),
    count: lumi.optional(lumi.number),
    peer: lumi.optional(lumi.anyResource),
    list: lumi.optional(lumi.list(lumi.string)),
    site: lumi.optional(lumi.struct(() => site)),
    data: lumi.optional(lumi.any),
    password: lumi.optional(lumi.string, lumi.secretProperty),
    arn: lumi.out(lumi.string),
    port: lumi.out(lumi.number),
    sites: lumi.out(lumi.map(lumi.struct(() => site))),
    outPeer: lumi.out(lumi.anyResource),
    image: lumi.out(lumi.asset),
    outAny: lumi.out(lumi.any),
};

class Thing extends lumi.NamedResource {
    constructor(name, args = {}) {
        super("test:index:Thing", name, args, shape);
    }
}

const names = { environment: "dev", package: "p" };
const urn = (name) => `urn:lumi:dev::p:index::test:index:Thing::${name}`;
const { $sig, $expr, $secret } = signatures;
const ref = (name, property) => ({ "#ref": urn(name), property });
const expression = (content) => ({ [$sig]: $expr, ...content });
const hidden = (value) => ({ [$sig]: $secret, value });

/** Returns the properties of another resource in a graph. */
async function properties(args) {
    const graph = await lumi.evaluateProgram(names, () => new Thing("z", args(new Thing("a"))));
    const { name, ...rest } = graph.resources[urn("z")].properties;
    return rest;
}

/** Returns the message of the ArgumentError thrown by a call. */
function refusal(call) {
    try {
        call();
    } catch (error) {
        assert.ok(error instanceof lumi.ArgumentError, error);
        assert.match(error.stack.split("\n").find((line) => line.includes(" at ")), /expression\.test\.js/);
        return error.message;
    }
    return assert.fail("expected an error");
}

test("expressions are evaluated as in Go", () => {
    // The test table shared with package lumigl/expr.
    const table = new URL("../../../lumigl/expr/testdata/cases.json", import.meta.url);
    const text = readFileSync(table, "utf8").replaceAll(/"(\$\w+)"/g, (_, name) => JSON.stringify(signatures[name]));
    for (const { name, value, outputs, want = null, error } of JSON.parse(text)) {
        if (error === undefined) {
            assert.deepEqual(evaluate(value, outputs), want, name);
        } else {
            assert.throws(() => evaluate(value, outputs), undefined, name);
        }
    }
});

test("invalid parts of a string are all reported", () => {
    const a = new Thing("a");
    assert.equal(
        refusal(() => lumi.interpolate`${null} ${[1]} ${a} ${NaN} ${a.sites} ${a.outPeer} ${{}} ${undefined} ${1n}`),
        [
            "lumi.interpolate: 9 arguments are wrong",
            "part 1 of the string is null",
            "part 2 of the string is a list: use lumi.jsonStringify",
            'part 3 of the string is a resource test:index:Thing "a": use one of its outputs',
            "part 4 of the string is NaN",
            'part 5 of the string is sites of test:index:Thing "a", an object: use lumi.jsonStringify',
            'part 6 of the string is outPeer of test:index:Thing "a", a resource: use one of its outputs',
            "part 7 of the string is an object: use lumi.jsonStringify",
            "part 8 of the string is undefined",
            "part 9 of the string is a bigint 1",
        ].join("\n  "),
    );
    assert.equal(
        refusal(() => lumi.interpolate`${a.image}${lumi.secret({ a: 1 })}${lumi.secret(Symbol())}${"\ud800"}`),
        [
            "lumi.interpolate: 4 arguments are wrong",
            'part 1 of the string is image of test:index:Thing "a", an asset',
            "part 2 of the string is an object: use lumi.jsonStringify",
            "part 3 of the string is a symbol",
            "is not valid Unicode: contains an unpaired surrogate",
        ].join("\n  "),
    );
    assert.throws(() => lumi.interpolate("a", a.arn), {
        name: "TypeError",
        message: "lumi.interpolate is a template tag: write lumi.interpolate`…${output}…`",
    });
});

test("values that JSON cannot represent are all reported", () => {
    const a = new Thing("a");
    assert.equal(
        refusal(() => lumi.jsonStringify({ a: [a], b: () => 1, c: a.outPeer, d: Infinity })),
        [
            "lumi.jsonStringify: 4 arguments are wrong",
            'a[0]: expected a JSON value, found a resource test:index:Thing "a"; use one of its outputs',
            "b: expected a JSON value, found a function",
            'c: expected a JSON value, found a resource (output outPeer of test:index:Thing "a")',
            "d: expected a number, found Infinity",
        ].join("\n  "),
    );
    assert.equal(
        refusal(() => lumi.jsonStringify({ a: [lumi.Asset.fromText("t")], "b c": a.image, d: lumi.Archive.fromFile("f") })),
        [
            "lumi.jsonStringify: 3 arguments are wrong",
            "a[0]: an asset cannot be turned into JSON",
            '["b c"]: an asset cannot be turned into JSON (output image of test:index:Thing "a")',
            "d: an archive cannot be turned into JSON",
        ].join("\n  "),
    );
    assert.equal(
        refusal(() => lumi.jsonStringify({ a: lumi.secret({ key: { b: lumi.Asset.fromText("t") } }) })),
        "lumi.jsonStringify: a[…][…]: an asset cannot be turned into JSON",
    );
    assert.equal(
        refusal(() => lumi.jsonStringify(undefined)),
        "lumi.jsonStringify: expected a JSON value, found undefined",
    );
    const circle = {};
    circle.self = circle;
    assert.equal(refusal(() => lumi.jsonStringify(circle)), "lumi.jsonStringify: self: contains itself");
});

test("invalid paths are rejected", () => {
    const a = new Thing("a");
    const at = '(output sites of test:index:Thing "a")';
    for (const [value, path, message] of [
        [a.sites, "x.hosts", `x.hosts: no such property; did you mean "host"? ${at}`],
        [a.sites, "[0]", `there is no [0] in an object ${at}`],
        [a.sites, "a.host.b", `there is no b in a.host, a string ${at}`],
        [a.sites, "a.ports.b", `there is no b in a.ports, a list ${at}`],
        [a.arn, "x", 'there is no x in a string (output arn of test:index:Thing "a")'],
        [a, "arn", 'there is no arn in a resource: use its property'],
        [lumi.secret("hush"), "x", "there is no x in a string"],
        [{ a: [] }, "a.b", "there is no b in a list"],
    ]) {
        assert.equal(refusal(() => lumi.get(value, path)), `lumi.get: ${message}`);
    }
    for (const path of ["", ".a", "a..b", "a.", "a[", "a[01]", "a[-1]", "[*]", 'a["\\x"]', "[0]a", "a.[0]", 1]) {
        assert.match(refusal(() => lumi.get(a.sites, path)), /^lumi\.get: .* is not a path such as "tags\.env", /);
    }
});

test("expressions have the type of their value", () => {
    const a = new Thing("a");
    const faults = (args) => refusal(() => new Thing("b", args)).replace('test:index:Thing "b": ', "");
    assert.equal(
        faults({ count: lumi.interpolate`${a.port}` }),
        "count: expected a number, found a string (output an interpolated string)",
    );
    assert.equal(
        faults({ level: lumi.jsonStringify([a.arn]) }),
        'level: expected "low" or "high", found a string (output a string of JSON)',
    );
    assert.equal(
        faults({ text: lumi.get(a.sites, "x.ports[0]") }),
        'text: expected a string, found a number (output x.ports[0] in sites of test:index:Thing "a")',
    );
    assert.equal(
        faults({ level: lumi.interpolate`${"lo"}` }),
        'level: expected "low" or "high", found a string "lo"; did you mean "low"?',
    );
    assert.equal(faults({ site: lumi.get({}, "a"), list: [lumi.get({}, "a")] }), "list[0]: an element of a list cannot be null");
});

test("the value of a secret is checked but not printed", () => {
    const faults = (args) => refusal(() => new Thing("b", args));
    assert.equal(
        faults({ level: lumi.secret("hush"), count: lumi.secret("hush"), site: lumi.secret({ prts: { hush: 1 } }) }),
        [
            'test:index:Thing "b": 4 arguments are wrong',
            'level: expected "low" or "high", found a string',
            "count: expected a number, found a string",
            "site.host: is required, but missing",
            'site[…]: no such property',
        ].join("\n  "),
    );
    for (const value of [undefined, null, new Thing("a")]) {
        assert.throws(() => lumi.secret(value), {
            name: "TypeError",
            message: /^lumi\.secret: expected a value that can be a secret, found (?:undefined|null|a resource)$/,
        });
    }
    const thing = new Thing("c", { text: lumi.secret("hush"), data: [lumi.interpolate`hush${lumi.secret("hush")}`] });
    assert.equal(
        inspect(thing, { breakLength: Infinity }).replace(/arn.*/, ""),
        'test:index:Thing "c" { name: Output(name of test:index:Thing "c"), text: Output(a secret), data: [ Output(a secret) ], ',
    );
});

test("secrets and expressions cannot be converted", () => {
    const { arn } = new Thing("a");
    for (const [convert, message] of [
        [
            () => `${lumi.interpolate`${arn}`}`,
            "an interpolated string cannot be turned into a string: it is an output, whose value is unknown until the " +
                "resource exists; put it into a string with lumi.interpolate`…${output}…`",
        ],
        [
            () => `${lumi.secret("hush")}`,
            "a secret cannot be turned into a string: it is an output, whose value is known only during a deployment; " +
                "put it into a string with lumi.interpolate`…${output}…`",
        ],
    ]) {
        assert.throws(convert, { name: "TypeError", message });
    }
    assert.throws(() => lumi.reference(lumi.secret(1)), { message: "expected an output of a resource, found a secret" });
});

test("configurations reject expressions", () => {
    assert.equal(
        refusal(() => lumi.configure("p", { a: lumi.interpolate`a` }, { a: lumi.required(lumi.string) })),
        "p: a: must not be an output: it must be known before any resource exists",
    );
});

// The following tests evaluate programs, after which resources can no longer be constructed outside of programs.

test("strings may contain outputs", async () => {
    assert.deepEqual(
        await properties((a) => ({
            text: lumi.interpolate`${a.arn}/*`,
            list: [lumi.interpolate`${1}${true}-${"x"}`, lumi.interpolate`a${lumi.interpolate`b${a.port}c`}d`],
            data: { url: lumi.interpolate`http://${lumi.id(a)}:${a.port}` },
        })),
        {
            text: expression({ interpolate: [ref("a", "arn"), "/*"] }),
            list: ["1true-x", expression({ interpolate: ["ab", ref("a", "port"), "cd"] })],
            data: { url: expression({ interpolate: ["http://", ref("a", "id"), ":", ref("a", "port")] }) },
        },
    );
});

test("JSON may contain outputs", async () => {
    assert.deepEqual(
        await properties((a) => ({
            text: lumi.jsonStringify({ b: [a.arn, undefined ?? null], a: 1, gone: undefined }),
            list: [lumi.jsonStringify({ b: [1, null], a: "é" }), lumi.jsonStringify(lumi.interpolate`${1}`)],
        })),
        {
            text: expression({ jsonStringify: { b: [ref("a", "arn"), null], a: 1 } }),
            list: ['{"a":"é","b":[1,null]}', '"1"'],
        },
    );
});

test("get follows paths in outputs and known values", async () => {
    assert.deepEqual(
        await properties((a) => ({
            text: lumi.get(a.sites, '["a b"].host'),
            count: lumi.get(lumi.get(lumi.get(a.sites, "a"), "ports"), "[0]"),
            level: lumi.get({ levels: ["low"] }, "levels[0]"),
            list: lumi.get({ a: lumi.secret(["s"]), b: 1 }, "a"),
            data: [lumi.get({ a: a.arn }, "a"), lumi.get({ a: { b: a.outAny } }, "a.b.c[0]")],
            password: lumi.get({ a: {} }, "a.b.c"),
        })),
        {
            text: expression({ get: ref("a", "sites"), path: '["a b"].host' }),
            count: expression({ get: ref("a", "sites"), path: "a.ports[0]" }),
            level: "low",
            list: hidden(["s"]),
            data: [ref("a", "arn"), expression({ get: ref("a", "outAny"), path: "c[0]" })],
        },
    );
});

test("a secret can be used wherever its value can", async () => {
    assert.deepEqual(
        await properties((a) => ({
            text: lumi.secret("hush"),
            count: lumi.secret(lumi.secret(3)),
            list: ["a", lumi.secret("b")],
            site: lumi.secret({ host: a.arn, ports: [1] }),
            data: { key: lumi.secret({ deep: [a.arn] }) },
            password: lumi.secret("hush"),
        })),
        {
            text: hidden("hush"),
            count: hidden(3),
            list: ["a", hidden("b")],
            site: hidden({ host: ref("a", "arn"), ports: [1] }),
            data: { key: hidden({ deep: [ref("a", "arn")] }) },
            password: hidden("hush"),
        },
    );
});

test("values computed from a secret are secret", async () => {
    const s = lumi.secret("hush");
    assert.deepEqual(
        await properties((a) => ({
            text: lumi.interpolate`user:${s}`,
            list: [lumi.interpolate`${s}@${a.arn}`, lumi.jsonStringify([s]), lumi.get(lumi.secret({ a: "x" }), "a")],
            data: [lumi.jsonStringify({ a: a.arn, s: { s } }), lumi.get(lumi.secret(a.sites), "b.host")],
        })),
        {
            text: hidden("user:hush"),
            list: [hidden(expression({ interpolate: ["hush@", ref("a", "arn")] })), hidden('["hush"]'), hidden("x")],
            data: [
                hidden(expression({ jsonStringify: { a: ref("a", "arn"), s: { s: "hush" } } })),
                hidden(expression({ get: ref("a", "sites"), path: "b.host" })),
            ],
        },
    );
});

test("an expression depends on the resources it contains", async () => {
    const graph = await lumi.evaluateProgram(names, () => {
        const z = new Thing("z");
        const y = new Thing("y", { data: lumi.secret(lumi.jsonStringify({ deep: [lumi.get(z.sites, "a.host")] })) });
        new Thing("a", { text: lumi.interpolate`${y.arn}/*` });
    });
    assert.deepEqual(Object.keys(graph.resources), ["z", "y", "a"].map(urn));
    await assert.rejects(
        lumi.evaluateProgram(names, () => {
            const a = new Thing("a");
            a.text = lumi.interpolate`${a.arn}`;
        }),
        /is part of a dependency cycle/,
    );
});
