// Values exchanged between modules.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import * as lumi from "../dist/index.js";
import { refusal } from "./refusal.js";
import { signatures } from "./wire.js";

test("provide and use throw outside of a program", () => {
    // This test must be the first, since the error differs after a program has ended.
    assert.throws(() => lumi.provide("url", "x", lumi.string), {
        name: "Error",
        message: 'lumi.provide "url": no program is being evaluated; run the program with lumi-program or evaluateProgram',
    });
    assert.throws(() => lumi.module("network").use("vpcId", lumi.string), {
        name: "Error",
        message:
            'lumi.module("network").use "vpcId": no program is being evaluated; run the program with lumi-program or ' +
            "evaluateProgram",
    });
});

const rule = { port: lumi.required(lumi.number), note: lumi.optional(lumi.string, lumi.secretProperty) };

class Thing extends lumi.NamedResource {
    constructor(name, args = {}) {
        super("test:index:Thing", name, args, {
            text: lumi.optional(lumi.string),
            count: lumi.optional(lumi.number),
            level: lumi.optional(lumi.enum(() => ({ Low: "low" }))),
            peer: lumi.optional(lumi.resource("test:index:Thing")),
            data: lumi.optional(lumi.any),
            rule: lumi.optional(lumi.struct(() => rule)),
            arn: lumi.out(lumi.string),
        });
    }
}

const names = { environment: "prod", package: "my/shop" };
const thing = (name) => `urn:lumi:prod::my/shop:index::test:index:Thing::${name}`;
const moduleURN = (pkg, name = pkg) => `urn:lumi:prod::${pkg}:index::lumi:index:Module::${name}`;
const { $sig, $expr, $secret } = signatures;

test("used modules are first in a graph, and the provided values last", async () => {
    const graph = await lumi.evaluateProgram(names, () => {
        const network = lumi.module("network");
        const where = "value.startsWith('vpc-')";
        const vpcId = network.use("vpcId", lumi.string, { where });
        const a = new Thing("a", {
            text: lumi.interpolate`${vpcId}/x`,
            data: network.use("zones", lumi.list(lumi.string)),
        });
        lumi.provide("url", a.arn, lumi.string);
        lumi.provide("rules", { web: { port: 443, note: "hush" } }, lumi.map(lumi.struct(() => rule)));
        lumi.provide("thing", a, lumi.resource("test:index:Thing"));
        lumi.provide("token", lumi.secret("hush"), lumi.string);
        lumi.provide("again", vpcId, lumi.string);
        new Thing("z", {
            peer: lumi.module("a/data").use("thing", lumi.resource("test:index:Thing")),
            text: network.use("vpcId", lumi.string, { where }),
        });
    });
    const ref = (urn, property) => ({ "#ref": urn, ...(property === undefined ? {} : { property }) });
    const want = {
        [moduleURN("a/data", "data")]: {
            type: "lumi:index:Module",
            properties: { uses: { thing: { type: { resource: "test:index:Thing" } } } },
        },
        [moduleURN("network")]: {
            type: "lumi:index:Module",
            properties: {
                uses: {
                    vpcId: { type: "string", where: "value.startsWith('vpc-')" },
                    zones: { type: { list: "string" } },
                },
            },
        },
        [thing("a")]: {
            type: "test:index:Thing",
            properties: {
                name: "a",
                text: { [$sig]: $expr, interpolate: [ref(moduleURN("network"), "provides.vpcId"), "/x"] },
                data: ref(moduleURN("network"), "provides.zones"),
            },
        },
        [thing("z")]: {
            type: "test:index:Thing",
            properties: {
                name: "z",
                text: ref(moduleURN("network"), "provides.vpcId"),
                peer: ref(moduleURN("a/data", "data"), "provides.thing"),
            },
        },
        [moduleURN("my/shop", "shop")]: {
            type: "lumi:index:Module",
            properties: {
                provides: {
                    url: { type: "string", value: ref(thing("a"), "arn") },
                    rules: {
                        type: { map: { object: { "note?": "string", port: "number" } } },
                        value: { web: { port: 443, note: { [$sig]: $secret, value: "hush" } } },
                    },
                    thing: { type: { resource: "test:index:Thing" }, value: ref(thing("a")) },
                    token: { type: "string", value: { [$sig]: $secret, value: "hush" } },
                    again: { type: "string", value: ref(moduleURN("network"), "provides.vpcId") },
                },
            },
        },
    };
    assert.deepEqual(graph.resources, want);
    assert.deepEqual(Object.keys(graph.resources), Object.keys(want));
});

test("every type has a form in graphs", async () => {
    const { resources } = await lumi.evaluateProgram(names, () => {
        const use = (name, type) => lumi.module("m").use(name, type);
        use("bool", lumi.boolean);
        use("any", lumi.any);
        use("level", lumi.enum(() => ({ Low: "low" })));
        use("deep", lumi.list(lumi.map(lumi.number, lumi.string)));
        const [name, ref] = [lumi.required(lumi.string), lumi.optional(lumi.number)];
        use("resolve", lumi.verb(lumi.struct(() => ({ name, "#ref": ref })), lumi.list(lumi.any)));
        use("resolve", lumi.verb(lumi.struct(() => ({ "#ref": ref, name })), lumi.list(lumi.any)));
    });
    assert.deepEqual(resources[moduleURN("m")].properties.uses, {
        bool: { type: "bool" },
        any: { type: "any" },
        level: { type: "string" },
        deep: { type: { list: { map: "number" } } },
        resolve: {
            type: { verb: { request: { object: { "#ref?": "number", name: "string" } }, response: { list: "any" } } },
        },
    });
});

test("a property named like the reference key changes that key", async () => {
    const type = lumi.struct(() => ({ "#ref": lumi.required(lumi.string) }));
    const program = () => lumi.provide("link", lumi.module("m").use("link", type), type);
    const { ref, resources } = await lumi.evaluateProgram(names, program);
    assert.equal(ref, "#ref2");
    assert.deepEqual(resources[moduleURN("my/shop", "shop")].properties.provides.link, {
        type: { object: { "#ref": "string" } },
        value: { "#ref2": moduleURN("m"), property: "provides.link" },
    });
});

test("a used value is checked like an output of its type", async () => {
    await lumi.evaluateProgram(names, () => {
        const m = lumi.module("m");
        const id = m.use("id", lumi.string);
        const verb = m.use("resolve", lumi.verb(lumi.string, lumi.number));
        const vpc = m.use("vpc", lumi.resource("aws:ec2:VPC"));
        const args = { count: id, text: m.use("port", lumi.number), level: verb, peer: vpc };
        assert.throws(() => new Thing("a", args), {
            message: [
                'test:index:Thing "a": 4 arguments are wrong',
                'text: expected a string, found a number (output port of module "m")',
                'count: expected a number, found a string (output id of module "m")',
                'level: expected "low", found a string, the address of a function (output resolve of module "m")',
                "peer: expected a resource of type test:index:Thing, found a resource of type aws:ec2:VPC " +
                    '(output vpc of module "m")',
            ].join("\n  "),
        });
        assert.throws(() => `${id}`, {
            message:
                'id of module "m" cannot be turned into a string: it is an output, whose value is known only during a deployment; ' +
                "put it into a string with lumi.interpolate`…${output}…`",
        });
        assert.equal(inspect(id), 'Output(id of module "m")');
        assert.throws(() => lumi.reference(id), { message: 'expected an output of a resource, found id of module "m"' });
        assert.throws(() => lumi.configure("aws", { id }, { id: lumi.required(lumi.string) }), /must not be an output/);
        lumi.get(m.use("rule", lumi.struct(() => rule)), "port");
        new Thing("b", { text: verb, data: lumi.interpolate`${verb}` });
        lumi.provide("number", verb, lumi.verb(lumi.string, lumi.any));
        assert.throws(() => lumi.provide("x", verb, lumi.verb(lumi.number, lumi.string)), {
            message: [
                'lumi.provide "x": 2 arguments are wrong',
                'request: expected a string, found a number (output resolve of module "m")',
                'response: expected a string, found a number (output resolve of module "m")',
            ].join("\n  "),
        });
    });
});

/** Returns the message of the ArgumentError thrown by a call in a program. */
async function fault(call) {
    let message;
    await lumi.evaluateProgram(names, () => {
        assert.throws(call, (error) => {
            assert.match(error.stack.split("\n").find((line) => line.includes(" at ")), /module\.test\.js/);
            message = error.message;
            return error instanceof TypeError;
        });
    });
    return message;
}

test("a provided value must match its type", async () => {
    assert.equal(
        await fault(() => lumi.provide("url", 1, lumi.string)),
        'lumi.provide "url": expected a string, found a number 1',
    );
    assert.equal(
        await fault(() => {
            const rules = [{ prt: 1 }, lumi.secret({ port: "hush" })];
            lumi.provide("rules", rules, lumi.list(lumi.struct(() => rule)));
        }),
        [
            'lumi.provide "rules": 3 arguments are wrong',
            "[0].port: is required, but missing",
            '[0].prt: no such property; did you mean "port"?',
            "[1].port: expected a number, found a string",
        ].join("\n  "),
    );
    assert.equal(
        await fault(() => lumi.provide("a", lumi.module("m").use("a", lumi.resource("aws:s3:Bucket")), lumi.any)),
        'lumi.provide "a": expected a JSON value, found a resource of type aws:s3:Bucket ' +
            '(output a of module "m")',
    );
    assert.equal(
        await fault(() => lumi.provide("url", undefined, lumi.verb(lumi.any, lumi.any))),
        'lumi.provide "url": expected a string, the address of a function, found undefined',
    );
});

test("invalid names, types, and options are rejected", async () => {
    const name = (found) => `name: expected a letter followed by letters, digits, - and _, found ${found}`;
    for (const [given, found] of [["", 'a string ""'], ["a.b", 'a string "a.b"'], ["1", 'a string "1"'], [1, "a number 1"]]) {
        const shown = typeof given === "string" && given !== "" ? ` ${JSON.stringify(given)}` : "";
        assert.equal(await fault(() => lumi.provide(given, "", lumi.string)), `lumi.provide${shown}: ${name(found)}`);
    }
    const self = { self: lumi.optional(lumi.list(lumi.struct(() => self))), "a?": lumi.required(lumi.string) };
    assert.equal(
        await fault(() => lumi.module("m").use("a b", lumi.struct(() => self), { wher: "x", where: 1 })),
        [
            'lumi.module("m").use "a b": 5 arguments are wrong',
            name('a string "a b"'),
            "type.self[…]: contains itself, which is not allowed between modules",
            'type["a?"]: a property name shared between modules must not end in "?"',
            "options.where: expected a string, found a number 1",
            'options.wher: no such property; did you mean "where"?',
        ].join("\n  "),
    );
    for (const [type, message] of [
        ["string", 'type: expected a type such as lumi.string, found a string "string"'],
        [String, "type: expected a type such as lumi.string, found a function"],
        [undefined, "type: expected a type such as lumi.string, found undefined"],
        [rule, "type: expected a type such as lumi.string, found an object"],
        [lumi.list(lumi.asset), "type[…]: an asset cannot be passed to other modules"],
        [lumi.archive, "type: an archive cannot be passed to other modules"],
        [lumi.anyResource, "type: a resource shared between modules must have a type; use lumi.resource"],
        [lumi.verb(lumi.string), "type.response: expected a type such as lumi.string, found undefined"],
    ]) {
        assert.equal(await fault(() => lumi.module("m").use("a", type)), `lumi.module("m").use "a": ${message}`);
    }
    const use = (options) => fault(() => lumi.module("m").use("a", lumi.string, options));
    assert.equal(await use("x"), 'lumi.module("m").use "a": options: expected an object with options, found a string "x"');
    assert.equal(
        await use({ where: " " }),
        'lumi.module("m").use "a": options.where: is empty; omit it to accept any value',
    );
    assert.equal(await fault(() => lumi.module(1)), "lumi.module: expected the name of a package, found a number 1");
    assert.match(await fault(() => lumi.module("Net work")), /^lumi\.module: package "Net work": must be words joined by/);
});

test("conflicting uses are all reported", async () => {
    const program = () => {
        const a = new Thing("a");
        const m = lumi.module("m");
        m.use("id", lumi.string);
        m.use("id", lumi.number);
        m.use("id", lumi.string, { where: "value != ''" });
        new Thing("b", { text: lumi.module("my/shop").use("own", lumi.string) });
        lumi.provide("url", a.arn, lumi.string);
        lumi.provide("url", 1, lumi.number);
        lumi.provide("foreign", foreign, lumi.resource("test:index:Thing"));
    };
    let foreign;
    await lumi.evaluateProgram(names, () => (foreign = new Thing("foreign")));
    assert.deepEqual(await refusal(lumi.evaluateProgram(names, program)), [
        'error: module "m": id is used as "number" here, but as "string" elsewhere',
        '  in: use("id", lumi.number);',
        '  note: the other use is here',
        '  in: use("id", lumi.string);',
        'error: module "m": id is used as "string" where value != \'\' here, but as "string" elsewhere',
        '  in: use("id", lumi.string, { where: "value != \'\'" });',
        '  note: the other use is here',
        '  in: use("id", lumi.string);',
        'error: module "my/shop": is the program\'s own module, which cannot use what it provides',
        '  in: use("own", lumi.string) });',
        'error: lumi.provide "url": another value is provided under this name',
        '  in: provide("url", 1, lumi.number);',
        "  note: the other one is provided here",
        '  in: provide("url", a.arn, lumi.string);',
        'error: lumi.provide "foreign": refers to a resource in another program',
        '  in: provide("foreign", foreign, lumi.resource("test:index:Thing"));',
    ]);
    assert.throws(() => lumi.provide("late", 1, lumi.number), {
        message: 'lumi.provide "late": the evaluation of the program has already ended',
    });
});

test("an output of another evaluation is rejected", async () => {
    let id;
    await lumi.evaluateProgram(names, () => (id = lumi.module("m").use("id", lumi.string)));
    const lines = await refusal(lumi.evaluateProgram(names, () => new Thing("a", { text: id })));
    assert.equal(lines[0], 'error: test:index:Thing "a": text: refers to a resource in another program');
});
