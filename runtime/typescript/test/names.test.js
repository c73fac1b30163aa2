import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import * as lumi from "../dist/index.js";
import { signatureKey } from "../dist/wire.js";

const expression = "63fc8277790b7f8a51f0478af443e94d";

const name = lumi.optional(
    lumi.constrained(lumi.string, { minLength: 3, maxLength: 9, pattern: "^[a-z-]+$", says: "a bucket name" }),
    lumi.replaces,
);
const shape = { name, text: lumi.optional(lumi.string), data: lumi.optional(lumi.any), arn: lumi.out(lumi.string) };

class Bucket extends lumi.NamedResource {
    constructor(name, args, options) {
        super("test:index:Bucket", name, args, shape, options);
    }
}

/** A class of a package that was generated before names were arguments. */
class Old extends lumi.NamedResource {
    constructor(name, args) {
        super("test:index:Old", name, args, { text: lumi.optional(lumi.string) });
    }
}

/** Returns the properties of the resource that each function constructs, by the names in their URNs. */
async function properties(...programs) {
    const names = { environment: "dev", package: "p" };
    const { resources } = await lumi.evaluateProgram(names, () => programs.forEach((program) => program()));
    return Object.fromEntries(Object.entries(resources).map(([urn, { properties }]) => [urn.slice(urn.lastIndexOf(":") + 1), properties]));
}

test("the member name is an output unless the arguments give a string", () => {
    const photos = new Bucket("photos");
    assert.equal(new Bucket("photos", { name: "photos" }).name, "photos");
    assert.equal(new Bucket("x", { name: lumi.interpolate`photos` }).name, "photos");
    for (const bucket of [photos, new Bucket("x", { name: photos.arn }), new Bucket("x", { name: lumi.uniqueName("x") })]) {
        assert.deepEqual(lumi.reference(bucket.name), { resource: bucket, property: "name" });
    }
    assert.throws(() => `arn:aws:s3:::${photos.name}`, {
        name: "TypeError",
        message:
            'name of test:index:Bucket "photos" cannot be turned into a string: it is an output, whose value is unknown ' +
            "until the resource exists; put it into a string with lumi.interpolate`…${output}…`",
    });
    assert.deepEqual(lumi.evaluate(photos).properties, { name: "photos" });
});

test("constraints apply to the physical name", () => {
    const invalid = "name: must be a bucket name, found ";
    const many = ": 2 arguments are wrong\n  ";
    for (const [logical, args, message] of [
        ["Photos", undefined, ` "Photos": ${invalid}"Photos"`],
        ["a", { text: "t" }, ' "a": name: must have at least 3 characters, found 1'],
        ["A", { name: "B-photos-2026" }, ` "A"${many}name: must have at most 9 characters, found 13\n  ${invalid}"B-photos-2026"`],
        ["photos", { name: "" }, ' "photos": name: must not be empty'],
        ["photos", { name: 5 }, ' "photos": name: expected a string, found a number 5'],
        ["photos", { name: lumi.secret("hush") }, ' "photos": name: must not be a secret: names are printed'],
        ["", { name: "photos" }, ": name: must not be empty"],
        [5, {}, ": name: expected a string, found a number 5"],
    ]) {
        assert.throws(() => new Bucket(logical, args), { message: `test:index:Bucket${message}` });
    }
    assert.throws(() => new Old("old", { name: "new" }), {
        message: 'test:index:Old "old": name: no such property',
    });
});

test("a unique name is allowed only as a name", () => {
    const unique = lumi.uniqueName("photos");
    const only = "lumi.uniqueName is allowed only as the name of a resource";
    for (const [use, message] of [
        [() => new Bucket("b-b", { text: unique }), `test:index:Bucket "b-b": text: ${only}`],
        [() => new Bucket("b-b", { name: unique, data: { name: unique } }), `test:index:Bucket "b-b": data.name: ${only}`],
        [() => lumi.jsonStringify([unique]), `lumi.jsonStringify: [0]: ${only}`],
        [() => lumi.interpolate`a${unique}`, `lumi.interpolate: part 1 of the string: ${only}; use the name of that resource`],
        [() => `${unique}`, /^the unique name "photos" cannot be turned into a string: it is an output/],
        [() => lumi.uniqueName(""), "lumi.uniqueName: must not be empty"],
        [() => lumi.uniqueName(new Bucket("abc").arn), "lumi.uniqueName: must not be an output: it must be known before any resource exists"],
        [() => lumi.uniqueName("a", { length: 3 }), "lumi.uniqueName: length: must be at least 4, found 3"],
        [() => lumi.uniqueName("a", { length: 33 }), "lumi.uniqueName: length: must be at most 32, found 33"],
        [() => lumi.uniqueName("a", { lenght: 8 }), 'lumi.uniqueName: lenght: no such property; did you mean "length"?'],
        [() => lumi.uniqueName("a", 8), "lumi.uniqueName: expected an object, found a number 8"],
    ]) {
        assert.throws(use, { message });
    }
    assert.equal(inspect(unique), 'Output(the unique name "photos")');
});

test("the physical name is the argument name, or else the logical name", async () => {
    const urn = "urn:lumi:dev::p:index::test:index:Bucket::logs";
    const got = await properties(
        () => new Bucket("photos"),
        () => new Bucket("Logs and Such", { name: "logs" }),
        () => lumi.component("web", () => new Bucket("site")),
        () => {
            const logs = new Bucket("logs", { name: lumi.uniqueName("logs", { length: 12 }) });
            new Bucket("copy", { name: logs.name, text: lumi.interpolate`${logs.name}/*` });
        },
        () => new Bucket("short", { name: lumi.uniqueName("s") }),
        () => new Old("old", { text: "t" }),
    );
    assert.deepEqual(got, {
        "photos": { name: "photos" },
        "Logs and Such": { name: "logs" },
        "web/site": { name: "site" },
        "logs": { name: { [signatureKey]: expression, uniqueName: "logs", length: 12 } },
        "copy": {
            name: { "#ref": urn, property: "name" },
            text: { [signatureKey]: expression, interpolate: [{ "#ref": urn, property: "name" }, "/*"] },
        },
        "short": { name: { [signatureKey]: expression, uniqueName: "s" } },
        "old": { name: "old", text: "t" },
    });
});

test("a given name that is the logical name is an expression, since engines may change names that are not given", async () => {
    const got = await properties(() => new Bucket("photos", { name: "photos" }), () => new Bucket("logs", { name: undefined }));
    assert.deepEqual(got, {
        photos: { name: { [signatureKey]: expression, interpolate: ["photos"] } },
        logs: { name: "logs" },
    });
});
