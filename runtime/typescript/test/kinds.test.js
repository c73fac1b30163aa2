// Comparison of the types of outputs with the expected types, like in the TypeScript compiler.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as lumi from "../dist/index.js";

class Thing extends lumi.NamedResource {
    constructor(name, args, shape) {
        super("test:index:Thing", name, args, shape);
    }
}

/** Returns an output of a type. */
function outputOf(type, property = lumi.out) {
    return new Thing("t", {}, { o: property(type) }).o;
}

/** Assigns a value to a property of a type and returns the faults. */
function faults(type, value, property = lumi.optional) {
    try {
        new Thing("u", { p: value }, { p: property(type) });
        return [];
    } catch (error) {
        assert.ok(error instanceof lumi.ArgumentError, error);
        return error.faults.map(({ path, message }) => `${path}: ${message}`);
    }
}

const colors = lumi.enum(() => ({ Red: "red", Green: "green" }));
const moreColors = lumi.enum(() => ({ Blue: "blue", Green: "green", Red: "red" }));
const vpc = lumi.resource("aws:ec2:VPC");
const subnet = lumi.resource("aws:ec2:Subnet");
const { boolean, number, string, any, asset, archive, anyResource, list, map } = lumi;

const node = { next: lumi.optional(lumi.struct(() => node)), n: lumi.optional(number) };
const sameNode = { n: lumi.optional(number), next: lumi.optional(lumi.struct(() => sameNode)) };
const wrongNode = { n: lumi.optional(string), next: lumi.optional(lumi.struct(() => wrongNode)) };
const rule = { port: lumi.required(number), cidr: lumi.optional(string) };
const moreRule = { ...rule, note: lumi.required(string) };
const tags = { a: lumi.optional(string), b: lumi.optional(string) };
const struct = (shape) => lumi.struct(() => shape);

test("an output of the expected type is accepted", () => {
    const types = [boolean, number, string, any, asset, archive, anyResource, vpc, colors, struct(node)];
    for (const type of types.flatMap((type) => [type, list(type), map(type), map(list(type))])) {
        assert.deepEqual(faults(type, outputOf(type)), []);
        assert.deepEqual(faults(list(type), [outputOf(type)]), []);
        assert.deepEqual(faults(map(type), { a: outputOf(type) }), []);
        assert.deepEqual(faults(struct({ x: lumi.required(type) }), { x: outputOf(type) }), []);
    }
});

test("an output of a subtype is accepted", () => {
    for (const [expected, found] of [
        [string, colors],
        [moreColors, colors],
        [anyResource, vpc],
        [list(string), list(colors)],
        [map(number), map(number, colors)],
        [map(number, colors), map(number, moreColors)],
        [struct(node), struct(sameNode)],
        [struct(rule), struct(moreRule)],
        [struct(tags), map(string)],
        [struct({}), struct(rule)],
        [struct(tags), struct({})],
        [map(string), struct(tags)],
        ...[boolean, asset, colors, list(number), map(any), struct(rule)].map((found) => [any, found]),
        ...[boolean, asset, colors, list(number), map(any), struct(rule), vpc].map((expected) => [expected, any]),
    ]) {
        assert.deepEqual(faults(expected, outputOf(found)), []);
    }
});

test("an output of another kind is rejected", () => {
    const source = '(output o of test:index:Thing "t")';
    for (const [expected, found, ...messages] of [
        [number, string, "p: expected a number, found a string"],
        [boolean, number, "p: expected a boolean, found a number"],
        [string, boolean, "p: expected a string, found a boolean"],
        [asset, archive, "p: expected an asset, found an archive"],
        [archive, asset, "p: expected an archive, found an asset"],
        [colors, string, 'p: expected "red" or "green", found a string'],
        [colors, moreColors, 'p: expected "red" or "green", found "blue", "green" or "red"'],
        [number, colors, 'p: expected a number, found "red" or "green"'],
        [string, vpc, "p: expected a string, found a resource of type aws:ec2:VPC"],
        [vpc, string, "p: expected a resource of type aws:ec2:VPC, found a string"],
        [vpc, subnet, "p: expected a resource of type aws:ec2:VPC, found a resource of type aws:ec2:Subnet"],
        [vpc, anyResource, "p: expected a resource of type aws:ec2:VPC, found a resource"],
        [anyResource, asset, "p: expected a resource, found an asset"],
        [any, vpc, "p: expected a JSON value, found a resource of type aws:ec2:VPC"],
        [any, list(vpc), "p[…]: expected a JSON value, found a resource of type aws:ec2:VPC"],
        [
            any, struct({ x: lumi.required(map(anyResource)), next: lumi.optional(struct(node)) }),
            "p.x[…]: expected a JSON value, found a resource",
        ],
        [list(string), string, "p: expected a list, found a string"],
        [string, list(string), "p: expected a string, found a list"],
        [list(list(string)), list(list(number)), "p[…][…]: expected a string, found a number"],
        [map(string), map(number), "p[…]: expected a string, found a number"],
        [map(number), struct(rule), "p.cidr: expected a number, found a string"],
        [map(string), list(string), "p: expected an object, found a list"],
        [struct(rule), string, "p: expected an object, found a string"],
        [
            struct(rule), struct({ port: lumi.required(string), cidr: lumi.required(list(string)) }),
            "p.port: expected a number, found a string", "p.cidr: expected a string, found a list",
        ],
        [struct(moreRule), struct(rule), "p.note: is required, but missing"],
        [struct(node), struct(wrongNode), "p.n: expected a number, found a string"],
        [struct(rule), map(number), "p.cidr: expected a string, found a number"],
        [struct({ "a-b": lumi.required(number) }), map(string), 'p["a-b"]: expected a number, found a string'],
        [struct(tags), struct(rule), 'p: expected an object with "a" or "b", found one with "port" or "cidr"'],
    ]) {
        assert.deepEqual(faults(expected, outputOf(found)), messages.map((message) => `${message} ${source}`));
    }
});

test("nested and assigned outputs are compared", () => {
    const bucket = new Thing("bucket", {}, { arn: lumi.out(string), days: lumi.optionalOut(number) });
    const found = 'found a string (output arn of test:index:Thing "bucket")';
    assert.deepEqual(faults(number, bucket.arn), [`p: expected a number, ${found}`]);
    assert.deepEqual(faults(number, bucket.arn, lumi.required), [`p: expected a number, ${found}`]);
    assert.deepEqual(faults(list(number), [1, bucket.arn]), [`p[1]: expected a number, ${found}`]);
    assert.deepEqual(faults(map(number), { a: bucket.arn }), [`p.a: expected a number, ${found}`]);
    const both = { port: bucket.arn, cidr: bucket.arn };
    assert.deepEqual(faults(struct(rule), both), [`p.port: expected a number, ${found}`]);
    assert.deepEqual(faults(any, { a: [bucket.arn, { b: bucket.days }] }), []);
    assert.deepEqual(faults(vpc, lumi.id(bucket)), [
        'p: expected a resource of type aws:ec2:VPC, found a string (output id of test:index:Thing "bucket")',
    ]);
    assert.deepEqual(faults(number, lumi.urn(bucket)), [
        'p: expected a number, found a string (output urn of test:index:Thing "bucket")',
    ]);
    // An optional output is accepted, since the program may know that it will be present.
    assert.deepEqual(faults(number, bucket.days, lumi.required), []);

    bucket.arn.kind = "number"; // outputs are opaque: assignments to them are ignored
    const queue = new Thing("queue", { delay: 1 }, { delay: lumi.optional(number) });
    queue.delay = bucket.arn;
    const message = `test:index:Thing "queue": delay: expected a number, ${found}`;
    assert.throws(() => lumi.evaluate(queue), { message });
});

test("messages describe outputs of unnamed resources and secrets", () => {
    class Unnamed extends lumi.Resource {}
    const { token } = new Unnamed("test:index:Unnamed", {}, { token: lumi.out(string, lumi.secretProperty) });
    const message = "p: expected a number, found a string (output token of test:index:Unnamed)";
    assert.deepEqual(faults(number, token), [message]);
});
