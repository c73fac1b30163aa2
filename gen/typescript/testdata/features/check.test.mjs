// What generated packages do at run time. The test that runs this has compiled the folder with tsc.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import * as lumi from "@lumi/lumi";

import { mode } from "./pack/enums.js";
import * as features from "./pack/index.js";
import { Level, Options, Rule, net } from "./pack/index.js";
import * as right from "./right.js";

const { network } = right;

/** Asserts that wrong arguments are refused with just these words. */
function refuses(construct, ...lines) {
    assert.throws(construct, (error) => {
        assert.equal(error.name, "ArgumentError");
        assert.ok(error instanceof lumi.ArgumentError);
        assert.equal(error.message, lines.join("\n  "));
        return true;
    });
}

const options = "features:index:Options";

test("a resource has the arguments as its properties", () => {
    assert.deepEqual(lumi.reference(network.name), { resource: network, property: "name" });
    assert.equal(network.range, "10.0.0.0/8");
    assert.equal(right.kinds.network, network);
    assert.deepEqual(right.kinds.nest, [{ low: { tree: {} } }, {}]);
    assert.equal(right.mixed.owner, "me");
    assert.equal(right.mixed.mixed, undefined);
    assert.equal(net.Network.type, "features:net:Network");
});

test("look-ups and functions have the shapes of the IDL", () => {
    assert.ok(right.shared instanceof net.Network);
    assert.equal(lumi.evaluate(right.shared).read, "net-1");
    assert.deepEqual(lumi.reference(right.shared.range), { resource: right.shared, property: "range" });
    assert.deepEqual(Object.keys(right.found), ["account", "imageID", "tags", "token", "near"]);
    refuses(
        () => features.findImage({ filters: [], prefix: 5 }),
        "features:index:FindImage: prefix: expected a string, found a number 5",
    );
    refuses(() => features.findImage({}), "features:index:FindImage: neither filters nor a family is given");
    refuses(() => net.Network.get("n", ""), 'features:net:Network "n": id: expected an id, found a string ""');
});

test("an engine sees what a resource is now", () => {
    const resource = new Options({ list: ["a"], proxy: { host: "h", port: undefined }, optional: null });
    resource.list.push("b");
    const { type, name, properties } = lumi.evaluate(resource);
    assert.deepEqual({ type, name, properties }, {
        type: options,
        name: undefined,
        properties: { list: ["a", "b"], proxy: { host: "h" } },
    });
    assert.deepEqual(lumi.evaluate(network).properties, { name: "n", range: "10.0.0.0/8" });

    resource.list.push(3);
    resource.level = "hgih";
    refuses(
        () => lumi.evaluate(resource),
        `${options}: 2 arguments are wrong`,
        "list[2]: expected a string, found a number 3",
        'level: expected "low", "high" or "new", found a string "hgih"; did you mean "high"?',
    );
});

test("whole numbers have no fraction", () => {
    const serial = "9223372036854775807";
    const pool = new features.Pool({ offset: 5, ports: [80, 443], zones: { a: 0 }, serial });
    assert.deepEqual(lumi.evaluate(pool).properties, { offset: 5, ports: [80, 443], zones: { a: 0 }, serial });
    refuses(
        () => new features.Pool({ size: 0.5, offset: 1e300, ports: [1.5], zones: { a: -1 }, serial: "1.5" }),
        "features:index:Pool: 5 arguments are wrong",
        "size: must be a whole number, found 0.5",
        "offset: must be from -9007199254740991 to 9007199254740991, found another number",
        "ports[0]: must be a whole number, found 1.5",
        "zones.a: must be at least 0, found -1",
        'serial: must be a 64-bit integer, found "1.5"',
    );
});

test("arguments are copied", () => {
    const args = { list: ["a"], free: { deep: [1] } };
    const resource = new Options(args);
    args.list.push("b");
    args.free.deep.push(2);
    assert.deepEqual(resource.list, ["a"]);
    assert.deepEqual(resource.free, { deep: [1] });
});

test("absent, zero and empty are different", () => {
    const { properties } = lumi.evaluate(new Options({ optional: "", list: [], secretMap: {}, free: 0 }));
    assert.deepEqual(properties, { optional: "", free: 0, list: [], secretMap: {} });
    assert.deepEqual(lumi.evaluate(new Options()).properties, {});
});

test("properties that replace, outputs and the name cannot be assigned", () => {
    const resource = new Options({ replaces: "a" });
    assert.throws(() => (resource.replaces = "b"), TypeError);
    assert.throws(() => (resource.out = "b"), TypeError);
    assert.throws(() => (network.name = "b"), TypeError);
    resource.optional = "b";
    assert.equal(resource.optional, "b");
});

test("all that is wrong is said at once", () => {
    refuses(
        () =>
            new features.Kinds("k", {
                flag: "true",
                count: "80",
                text: 5,
                level: "hi",
                mode: "clas",
                alias: [],
                tree: { a: { tree: { b: 1 } } },
                nest: [{ middle: { tree: {} } }, 3],
                rule: { from: NaN, inner: { to: Infinity } },
                other: null,
                asset: "a.txt",
                archive: lumi.Asset.fromText(""),
                peer: network,
                network: right.kinds,
                any: {},
                list: "a",
                lists: [[{ allow: 1 }]],
                map: [],
                maps: { "a b": { c: 1 } },
                keyed: { lo: { from: 1 } },
                weights: { w: "1" },
                peers: [null],
                near: { x: "urn" },
                flg: true,
            }),
        'features:index:Kinds "k": 29 arguments are wrong',
        'flag: expected a boolean, found a string "true"',
        'count: expected a number, found a string "80"',
        "text: expected a string, found a number 5",
        'level: expected "low", "high" or "new", found a string "hi"',
        String.raw`mode: expected "constructor", "class" or "a \"b\"\n", found a string "clas"; ` +
            'did you mean "class"?',
        "free: is required, but missing",
        "alias: expected a string, found a list",
        "tree.a.tree.b: expected an object, found a number 1",
        'nest[0].middle: expected "low", "high" or "new", found a string "middle"',
        "nest[1]: expected an object, found a number 3",
        "levels: is required, but missing",
        "rule.from: expected a number, found NaN",
        "rule.inner.from: is required, but missing",
        "rule.inner.to: expected a number, found Infinity",
        "other: is required, but missing",
        'asset: expected an asset, found a string "a.txt"',
        "archive: expected an archive, found an asset",
        'peer: expected a resource of type features:index:Kinds, found a resource features:net:Network "n"',
        'network: expected a resource of type features:net:Network, found a resource features:index:Kinds "k"',
        "any: expected a resource, found an object",
        'list: expected a list, found a string "a"',
        "lists[0][0].allow: expected a boolean, found a number 1",
        "map: expected an object, found a list",
        'maps["a b"].c: expected an object, found a number 1',
        'keyed.lo: expected "low", "high" or "new", found a string "lo"; did you mean "low"?',
        'weights.w: expected a number, found a string "1"',
        "peers[0]: an element of a list cannot be null",
        'near.x: expected a resource of type features:net:Network, found a string "urn"',
        'flg: no such property; did you mean "flag"?',
    );
});

test("a single fault takes a single line", () => {
    refuses(() => new Options({ proxy: { hots: "h", host: "h" } }), 'features:index:Options: proxy.hots: no such ' +
        'property; did you mean "host"?');
    refuses(
        () => new Options({ size: "s11" }),
        `${options}: size: expected "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9" or "s10", ` +
            'found a string "s11"',
    );
});

test("outputs are set by the provider", () => {
    refuses(() => new Options({ out: "a" }), `${options}: out: is set by the provider, not by a program`);
    assert.throws(() => `${network.assignedID}`, {
        name: "TypeError",
        message:
            'assignedID of features:net:Network "n" cannot be turned into a string: it is an output, whose value is unknown ' +
            "until the resource exists; put it into a string with lumi.interpolate`…${output}…`",
    });
});

test("a missing name, missing arguments and a resource in their place have messages of their own", () => {
    refuses(() => new net.Network(), "features:net:Network: 2 arguments are wrong",
        "name: expected a string, found undefined", "range: is required, but missing");
    refuses(() => new net.Network("n"), 'features:net:Network "n": range: is required, but missing');
    refuses(
        () => new net.Network("m", network),
        'features:net:Network "m": expected an object with the arguments, found the resource ' +
            'features:net:Network "n": pass an object such as { … }',
    );
    refuses(
        () => new Options("o", {}),
        `${options}: expected an object with the arguments as the only argument (resources of this type take ` +
            "no name), found a string",
    );
});

test("secrets are printed by nobody", () => {
    refuses(
        () => new Options({ secret: 5271, secrets: { host: ["hush"] }, secretMap: { hush: "hush" } }),
        `${options}: 3 arguments are wrong`,
        "secret: expected a string, found a number",
        "secrets.host: expected a string, found a list",
        'secretMap[…]: expected "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9" or "s10", found a string',
    );
    const resource = new Options({ secret: "hush", proxy: { host: "h", password: "hush" }, secretMap: { hush: "s1" } });
    assert.doesNotMatch(inspect(resource, { depth: null }), /hush/);
    assert.match(inspect(resource, { depth: null }), /host: 'h', password: '\(secret\)'/);
});

test("files refer to one another in circles", () => {
    refuses(
        () => new features.A("a", { holders: [{ a: { b: { a: { c: 1 } } } }] }),
        'features:index:A "a": holders[0].a.b.a.c: no such property',
    );
});

test("constants have the values that Go gives them", () => {
    assert.deepEqual(right.numbers, [2 ** 60, 2 ** 63, 1 / 3, Number.MIN_VALUE, Number.MAX_VALUE, -42]);
    assert.equal(right.awkward, "\"quotes\", \\, \n\r\t\x00\x1b, \u2028, \u2029, \ufeff, </script>, ${x}, `, é, 𝒳");
    assert.deepEqual(Object.entries(mode)[0], ["constructor", "constructor"]);
    assert.deepEqual(Level, { Low: "low", High: "high", New: "new" });
    assert.deepEqual(Object.keys(Rule), ["from", "to", "inner", "level"]);
});

test("a package is configured once, with what is known", () => {
    assert.deepEqual(lumi.configuration("features").properties, { region: "here", proxy: { host: "p" } });
    refuses(() => features.configure({ region: "there" }), "features: the package is already configured; a program " +
        "may configure it only once");
});

test("constraints are checked with those of named types", () => {
    const right = { port: 80, big: 10, hosts: ["a"], shares: { a: [0, 100] }, code: '"123,x', inner: [{ address: "1.2.3.4" }] };
    assert.equal(new features.Limits(right).port, 80);
    refuses(
        () => new features.Limits({ port: 0, big: 1e7 + 0.5, hosts: ["A"], shares: { A: [101] }, code: "x", inner: [] }),
        "features:index:Limits: 9 arguments are wrong",
        "port: must be at least 1, found 0",
        "big: must be a multiple of 1, found 10000000.5",
        "big: must be at most 1000000, found 10000000.5",
        'code: must match ^"\\d{3},\\w, found another string',
        'hosts[0]: must be a host name, found "A"',
        'shares.A: must be a host name, found "A"',
        "shares.A[0]: must be at most 100, found 101",
        "shares.A: the key must match ^[a-z]+",
        "inner: must have at least 1 element, found 0",
    );
});

test("values of unions are of one variant", () => {
    assert.equal(right.nameOf(right.route), "r");
    assert.equal(right.kindOf({ select: { from: 1 } }), "1");
    const proxy = { host: "h" };
    const refusesTarget = (target, ...lines) =>
        refuses(() => new features.Route("x", { target, action: { forward: proxy } }), ...lines);
    const at = 'features:index:Route "x": ';
    const expected = "expected a resource of type features:net:Network, features:index:Bare or features:index:Route, found";
    refusesTarget(right.kinds, `${at}target: ${expected} a resource features:index:Kinds "k"`);
    refusesTarget("n", `${at}target: ${expected} a string "n"`);
    refusesTarget(right.options.outPeer, `${at}target: ${expected} a resource of type features:index:Kinds (output outPeer of features:index:Options)`);
    assert.ok(new features.Route("y", { target: right.onward.next, action: { forward: proxy, select: null } }));
    const refusesAction = (action, ...lines) =>
        refuses(() => new features.Route("x", { target: network, action }), ...lines);
    const names = "exactly one of forward, select, branch is required, found";
    refusesAction({}, `${at}action: ${names} none`);
    refusesAction({ forward: proxy, branch: {} }, `${at}action: ${names} forward, branch`);
    refusesAction({ send: proxy }, `${at}2 arguments are wrong`, `action: ${names} none`, "action.send: no such property; it was renamed to forward");
});
