import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";

import * as lumi from "../dist/index.js";

const shape = {
    fixed: lumi.required(lumi.string, lumi.replaces),
    loose: lumi.optional(lumi.list(lumi.string)),
    token: lumi.optional(lumi.string, lumi.secretProperty),
    arn: lumi.out(lumi.string),
};

class Bucket extends lumi.NamedResource {
    constructor(name, args) {
        super("test:index:Bucket", name, args, shape);
    }
}

test("evaluate returns the type, name, and properties of a resource", () => {
    const bucket = new Bucket("b", { fixed: "f", loose: ["x"] });
    assert.deepEqual(lumi.evaluate(bucket), {
        type: "test:index:Bucket",
        name: "b",
        shape,
        properties: { name: "b", fixed: "f", loose: ["x"] },
    });
    assert.throws(() => lumi.evaluate({}), { message: "expected a resource, found an object" });
    assert.throws(() => lumi.id(undefined), { message: "expected a resource, found undefined" });
});

test("only settable properties can be assigned", () => {
    const bucket = new Bucket("b", { fixed: "f" });
    bucket.loose = ["y"];
    for (const property of ["name", "fixed", "arn"]) {
        assert.throws(() => (bucket[property] = "z"), {
            name: "TypeError",
            message: `Cannot assign to read only property '${property}' of object '#<Bucket>'`,
        });
    }
    assert.deepEqual(lumi.evaluate(bucket).properties, { name: "b", fixed: "f", loose: ["y"] });
    bucket.loose = bucket;
    assert.throws(() => lumi.evaluate(bucket), {
        message: 'test:index:Bucket "b": loose: expected a list, found a resource test:index:Bucket "b"',
    });
});

test("names must be non-empty strings", () => {
    for (const [name, message] of [
        ["", "test:index:Bucket: name: must not be empty"],
        [5, "test:index:Bucket: name: expected a string, found a number 5"],
        [
            "\ud800",
            String.raw`test:index:Bucket "\ud800": name: is not valid Unicode: contains an unpaired surrogate`,
        ],
        [new Bucket("b", { fixed: "f" }).arn, "test:index:Bucket: name: expected a string, found an output"],
    ]) {
        assert.throws(() => new Bucket(name, { fixed: "f" }), { name: "ArgumentError", message });
    }
});

test("arguments must be an object", () => {
    for (const [args, found] of [
        ["f", "a string"],
        [[], "a list"],
        [() => 1, "a function"],
        [new (class Args {})(), "an instance of Args"],
    ]) {
        assert.throws(() => new Bucket("b", args), {
            message: `test:index:Bucket "b": expected an object with the arguments after the name, found ${found}`,
        });
    }
    assert.throws(() => new Bucket("b", new Bucket("c", { fixed: "f" })), {
        message:
            'test:index:Bucket "b": expected an object with the arguments, found the resource ' +
            'test:index:Bucket "c": pass an object such as { … }',
    });
});

test("errors have a type, a resource and faults", () => {
    assert.throws(
        () => new Bucket("b", { loose: [1, "2", 3] }),
        (error) => {
            assert.equal(error.type, "test:index:Bucket");
            assert.equal(error.resource, "b");
            assert.deepEqual(error.faults, [
                { path: "fixed", message: "is required, but missing" },
                { path: "loose[0]", message: "expected a string, found a number 1" },
                { path: "loose[2]", message: "expected a string, found a number 3" },
            ]);
            return true;
        },
    );
});

test("an output can only be passed on", () => {
    const bucket = new Bucket("b", { fixed: "f" });
    const help = {
        "a string": "put it into a string with lumi.interpolate`…${output}…`",
        "a number": "pass the output itself as an argument of another resource",
        JSON: "use lumi.jsonStringify",
    };
    for (const [use, what] of [
        [() => `${bucket.arn}`, "a string"],
        [() => bucket.arn + "", "a string"],
        [() => bucket.arn.toString(), "a string"],
        [() => bucket.arn == "arn", "a string"],
        [() => +bucket.arn, "a number"],
        [() => bucket.arn * 2, "a number"],
        [() => JSON.stringify({ arn: bucket.arn }), "JSON"],
    ]) {
        assert.throws(use, {
            name: "TypeError",
            message:
                `arn of test:index:Bucket "b" cannot be turned into ${what}: it is an output, whose value is unknown ` +
                `until the resource exists; ${help[what]}`,
        });
    }
    const user = new Bucket("c", { fixed: bucket.arn, loose: [lumi.id(bucket), lumi.urn(bucket)] });
    assert.deepEqual(lumi.reference(user.fixed), { resource: bucket, property: "arn" });
    assert.deepEqual(user.loose.map(lumi.reference), [
        { resource: bucket, property: "id" },
        { resource: bucket, property: "urn" },
    ]);
});

test("Node prints resources without their secrets", () => {
    const bucket = new Bucket("b", { fixed: "f", token: "hush" });
    assert.equal(
        inspect(bucket),
        `test:index:Bucket "b" {\n  name: Output(name of test:index:Bucket "b"),\n  fixed: 'f',\n  token: '(secret)',\n` +
            `  arn: Output(arn of test:index:Bucket "b")\n}`,
    );
    assert.equal(inspect(Object.create(Bucket.prototype)), "Resource {}");
});

test("Node prints cyclic values", () => {
    const node = {
        next: lumi.optional(lumi.list(lumi.struct(() => node))),
        token: lumi.optional(lumi.string, lumi.secretProperty),
    };
    class Ring extends lumi.Resource {
        constructor() {
            super("test:index:Ring", {}, node);
        }
    }
    const ring = new Ring();
    const inner = { token: "hush" };
    inner.next = [inner, inner];
    ring.next = [inner];
    assert.doesNotMatch(inspect(ring, { depth: null }), /hush/);
});

test("Node prints no secrets in values of the wrong type", () => {
    const login = { user: lumi.required(lumi.string), password: lumi.required(lumi.string, lumi.secretProperty) };
    class Host extends lumi.Resource {
        constructor(args) {
            super("test:index:Host", args, {
                login: lumi.optional(lumi.struct(() => login)),
                list: lumi.optional(lumi.list(lumi.struct(() => login))),
                map: lumi.optional(lumi.map(lumi.struct(() => login))),
            });
        }
    }
    class Login {
        user = "u";
        password = "hush";
    }
    const host = new Host({ login: { user: "u", password: "hush" } });
    assert.equal(inspect(host), "test:index:Host { login: { user: 'u', password: '(secret)' } }");
    host.login = new Login();
    host.list = new Set([new Login()]);
    host.map = "u:hush";
    assert.equal(
        inspect(host),
        "test:index:Host {\n  login: '[an instance of Login]',\n  list: '[an instance of Set]',\n" +
            "  map: '[a string]'\n}",
    );
    host.login = lumi.id(host);
    host.list = host.map = null;
    assert.equal(
        inspect(host, { breakLength: Infinity }),
        "test:index:Host { login: Output(id of test:index:Host), list: null, map: null }",
    );
});

test("Node prints no values of unknown properties", () => {
    const login = { password: lumi.optional(lumi.string, lumi.secretProperty) };
    class Host extends lumi.Resource {
        count = 1;
        constructor() {
            super("test:index:Host", {}, { login: lumi.optional(lumi.struct(() => login)), ...login });
        }
    }
    const host = new Host();
    host.pasword = "hush";
    host.login = { pasword: "hush" };
    Object.defineProperty(host, "passwrd", { value: "hush", enumerable: true });
    new Proxy(host, {}).passwort = "hush";
    assert.equal(
        inspect(host, { breakLength: Infinity, compact: true }),
        "test:index:Host { login: { pasword: '[a string]' }, count: '[a number]', pasword: '[a string]', " +
            "passwrd: '[a string]', passwort: '[a string]' }",
    );
});

test("Node prints resources in reference cycles", () => {
    class Peer extends lumi.NamedResource {
        constructor(name, args) {
            super("test:index:Peer", name, args, { peers: lumi.optional(lumi.list(lumi.resource("test:index:Peer"))) });
        }
    }
    const a = new Peer("a", {});
    const b = new Peer("b", { peers: [a] });
    a.peers = [b, a];
    const text = `test:index:Peer "a" {
  name: Output(name of test:index:Peer "a"),
  peers: [
    test:index:Peer "b" {
      name: Output(name of test:index:Peer "b"),
      peers: [ test:index:Peer "a" ]
    },
    test:index:Peer "a"
  ]
}`;
    assert.equal(inspect(a, { depth: null }), text);
    assert.equal(inspect(a, { depth: null }), text, "printing a resource must not change its state");
    assert.equal(inspect({ a }, { depth: 0 }), '{ a: test:index:Peer "a" }');
});

test("a resource cannot be converted to text by accident", () => {
    const bucket = new Bucket("b", { fixed: "f" });
    for (const use of [() => `${bucket}`, () => bucket + "", () => bucket == "b", () => +bucket]) {
        assert.throws(use, {
            name: "TypeError",
            message:
                'test:index:Bucket "b" cannot be turned into a string or a number; lumi.id and lumi.urn return ' +
                "its id and its URN as outputs",
        });
    }
    assert.throws(() => `${Bucket.prototype}`, /^TypeError: a resource cannot be turned/);
    class Bare extends lumi.Resource {}
    assert.throws(() => JSON.stringify([new Bare("test:index:Bare", {}, {})]), {
        name: "TypeError",
        message:
            "test:index:Bare cannot be turned into JSON; lumi.id and lumi.urn return its id and its " +
            "URN as outputs",
    });
    // A property of the IDL may have this name.
    const shape = { toJSON: lumi.required(lumi.string) };
    assert.equal(JSON.stringify(new Bare("test:index:Bare", { toJSON: "t" }, shape)), '{"toJSON":"t"}');
});

test("programs cannot create outputs", () => {
    const { arn } = new Bucket("b", { fixed: "f" });
    assert.ok(arn instanceof lumi.Output);
    for (const forged of [Object.create(Object.getPrototypeOf(arn)), new Proxy(arn, {})]) {
        assert.throws(() => lumi.reference(forged), {
            name: "TypeError",
            message: "expected an output made by this copy of @lumi/lumi",
        });
        assert.throws(() => new Bucket("b", { fixed: forged }), {
            message:
                'test:index:Bucket "b": fixed: expected a string, found an output not made by this ' +
                'copy of @lumi/lumi; "npm ls @lumi/lumi" shows all copies',
        });
        assert.equal(inspect(forged), "Output {}");
    }
});

test("objects of another copy of the package are reported", async () => {
    const folder = mkdtempSync(join(tmpdir(), "lumi-"));
    try {
        cpSync(new URL("../dist", import.meta.url), folder, { recursive: true });
        writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
        const other = await import(pathToFileURL(join(folder, "index.js")));
        class Theirs extends other.Resource {
            constructor() {
                super("test:index:Theirs", {}, { arn: other.out(other.string) });
            }
        }
        const theirs = new Theirs();
        const blamed = 'not made by this copy of @lumi/lumi; "npm ls @lumi/lumi" shows all copies';
        const mixed = {
            resource: lumi.optional(lumi.anyResource),
            output: lumi.optional(lumi.string),
            asset: lumi.optional(lumi.asset),
            archive: lumi.optional(lumi.archive),
        };
        class Ours extends lumi.Resource {
            constructor(args) {
                super("test:index:Ours", args, mixed);
            }
        }
        const args = {
            resource: theirs,
            output: theirs.arn,
            asset: other.Asset.fromText(""),
            archive: other.Archive.fromFile("a"),
        };
        assert.throws(
            () => new Ours(args),
            ({ faults }) => {
                assert.deepEqual(faults.map(({ message }) => message), [
                    `expected a resource, found a resource ${blamed}`,
                    `expected a string, found an output ${blamed}`,
                    `expected an asset, found an asset ${blamed}`,
                    `expected an archive, found an archive ${blamed}`,
                ]);
                return true;
            },
        );
        assert.throws(() => lumi.id(theirs), { message: `expected a resource, found a resource ${blamed}` });
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test("a package can be configured only once", () => {
    const config = { region: lumi.required(lumi.string), key: lumi.optional(lumi.string, lumi.secretProperty) };
    assert.throws(() => lumi.configure("p", { key: 1, regoin: "r" }, config), {
        name: "ArgumentError",
        message:
            "p: 3 arguments are wrong\n  region: is required, but missing\n  key: expected a string, found a number\n" +
            '  regoin: no such property; did you mean "region"?',
    });
    const { arn } = new Bucket("b", { fixed: "f" });
    assert.throws(() => lumi.configure("p", { region: arn }, config), {
        message: "p: region: must not be an output: it must be known before any resource exists",
    });
    assert.throws(() => lumi.configure("p", "r", config), {
        message: "p: expected an object with the configuration, found a string",
    });
    assert.equal(lumi.configuration("p"), undefined);
    lumi.configure("p", { region: "r" }, config);
    assert.deepEqual(lumi.configuration("p"), { shape: config, properties: { region: "r" } });
    assert.throws(() => lumi.configure("p", { region: "r" }, config), {
        message: "p: the package is already configured; a program may configure it only once",
    });
});

test("assets and archives require a source", () => {
    const text = lumi.Asset.fromText("");
    assert.deepEqual(text.source, { text: "" });
    assert.deepEqual(lumi.Asset.fromURI("https://example.com/a").source, { uri: "https://example.com/a" });
    const entries = [["__proto__", text], ["sub", lumi.Archive.fromFile("s")]];
    const archive = lumi.Archive.fromAssets(Object.fromEntries(entries));
    assert.deepEqual(Object.keys(archive.source.assets), ["__proto__", "sub"]);
    assert.throws(() => (archive.source.assets.more = text), TypeError);
    assert.throws(() => lumi.Asset.fromFile(""), { message: "the path of an asset or archive must not be empty" });
    for (const [value, found] of [[5, "a number"], [{}, "an object"], [null, "null"], [undefined, "undefined"]]) {
        assert.throws(() => lumi.Asset.fromText(value), {
            message: `the text of an asset or archive must be a string, not ${found}`,
        });
    }
    const unpaired = /^TypeError: the (text|path|URI) of an asset or archive must be valid Unicode/;
    assert.throws(() => lumi.Asset.fromText("\ud800"), unpaired);
    assert.throws(() => lumi.Archive.fromURI("\udc00"), unpaired);
    assert.throws(() => lumi.Archive.fromAssets({ "\ud800": text }), unpaired);
    const output = lumi.id(new Bucket("b", { fixed: "f" }));
    const objects = [text, output, new Map([["a", text]]), new Date(), Promise.resolve({})];
    for (const assets of [null, [text], "text", ...objects]) {
        assert.throws(() => lumi.Archive.fromAssets(assets), {
            message: "the assets of an archive must be a plain object, with their paths as keys",
        });
    }
    assert.throws(() => lumi.Archive.fromAssets({ "a.txt": "text" }), {
        message: '"a.txt" in an archive must be an asset or an archive',
    });
});

test("names in archives must be portable", () => {
    const text = lumi.Asset.fromText("");
    const folder = lumi.Archive.fromFile("s");
    const cannot = ": is not a valid name in an archive: ";
    const refused = [
        [{ "": text }, `""${cannot}it is empty`],
        [{ ".": folder }, `"."${cannot}it is the archive itself`],
        [{ "/etc/passwd": text }, `"/etc/passwd"${cannot}it is absolute`],
        [{ "..": text }, `".."${cannot}it contains ".."`],
        [{ "a/../../b": folder }, `"a/../../b"${cannot}it contains ".."`],
        [{ "a//b": text }, `"a//b"${cannot}it contains an empty element`],
        [{ "a/": folder }, `"a/"${cannot}it contains an empty element`],
        [{ "a\\b": text }, `"a\\\\b"${cannot}it contains a backslash`],
        [{ "C:/a": text }, `"C:/a"${cannot}it starts with a drive letter`],
        [{ "a\0b": text }, `"a\\u0000b"${cannot}it contains a NUL character`],
        [{ "a\ud800": text }, "the path of an asset or archive must be valid Unicode, without lone surrogates"],
        [{ ["é".repeat(2049)]: text }, `"${"é".repeat(400)}…"${cannot}it is longer than 4096 bytes`],
        [{ "a": text, "./a": text }, '"a": appears twice in the archive'],
        [{ "a": text, "a/b/c": text }, '"a": is both a file and a folder in the archive'],
        [{ "a/b/c": folder, "./a/b": text }, '"a/b": is both a file and a folder in the archive'],
        [{ "a": text, "./a": folder }, '"a": is both a file and a folder in the archive'],
    ];
    for (const [assets, message] of refused) {
        assert.throws(() => lumi.Archive.fromAssets(assets), { name: "TypeError", message });
    }
    const assets = {
        "a": folder, "./a": folder, "a/b": text, "./c/./d": text, "...": text, "ab:c": text, "..c": text,
        ["é".repeat(2048)]: text,
    };
    assert.deepEqual(lumi.Archive.fromAssets(assets).source, { assets });
});

test("generated code of an unsupported generation is rejected", () => {
    lumi.requireGeneration(2);
    lumi.requireGeneration(3);
    lumi.requireGeneration(4);
    assert.throws(() => lumi.requireGeneration(5), {
        message:
            "@lumi/lumi 0.1.0 works with generated code of generation 2 to 4, not with 5: install a newer @lumi/lumi",
    });
    assert.throws(() => lumi.requireGeneration(1), /not with 1: generate the package again with the cidlc of this version$/);
    const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    assert.equal(lumi.version, manifest.version);
});

const placed = {
    zone: lumi.optional(lumi.string, lumi.computed, lumi.replaces),
    key: lumi.optional(lumi.string, lumi.computed, lumi.secretProperty),
    other: lumi.optional(lumi.resource("test:index:Placed"), lumi.computed),
};

class Placed extends lumi.NamedResource {
    constructor(name, args) {
        super("test:index:Placed", name, args, placed);
    }
}

test("a computed property is an output, of the program's value or of the provider's", () => {
    const chosen = new Placed("chosen", { zone: null });
    for (const property of ["zone", "key", "other"]) {
        assert.deepEqual(lumi.reference(chosen[property]), { resource: chosen, property });
    }
    assert.deepEqual(lumi.evaluate(chosen).properties, { name: "chosen" });
    const set = new Placed("set", { zone: "a", key: "hush", other: chosen });
    assert.ok(Object.values(set).every((value) => value instanceof lumi.Output || value === "set"));
    assert.deepEqual(Object.keys(lumi.evaluate(set).properties), ["name", "zone", "key", "other"]);
    assert.equal(lumi.evaluate(set).properties.zone, "a");
    assert.equal(lumi.evaluate(set).properties.other, chosen);
    assert.doesNotMatch(inspect(set), /hush/);
    const passed = lumi.evaluate(new Placed("passed", { zone: set.zone, key: chosen.zone, other: chosen.other })).properties;
    assert.equal(passed.zone, "a");
    assert.equal(passed.key, chosen.zone);
    assert.equal(passed.other, chosen.other);
    assert.throws(() => (set.zone = "b"), { name: "TypeError" });
    assert.throws(() => new Placed("wrong", { zone: chosen.other }), {
        message:
            'test:index:Placed "wrong": zone: expected a string, found a resource of type test:index:Placed ' +
            '(output other of test:index:Placed "chosen")',
    });
});
