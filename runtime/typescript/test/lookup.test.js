// Resources that something else manages, and functions of providers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import * as lumi from "../dist/index.js";
import { refusal } from "./refusal.js";
import { signatures } from "./wire.js";

const bucketShape = {
    name: lumi.optional(lumi.string, lumi.replaces),
    text: lumi.required(lumi.string),
    key: lumi.optional(lumi.string, lumi.secretProperty),
    password: lumi.optional(lumi.string, lumi.in, lumi.secretProperty),
    peer: lumi.optional(lumi.resource("test:index:Bucket")),
    arn: lumi.out(lumi.string),
};

class Bucket extends lumi.NamedResource {
    static type = "test:index:Bucket";
    constructor(name, args, options) {
        super(Bucket.type, name, args, bucketShape, options);
    }
    static get(name, id) {
        return lumi.lookUp(Bucket, bucketShape, Bucket.get, id, name);
    }
}

const taskShape = { text: lumi.optional(lumi.string) };

class Task extends lumi.Resource {
    static type = "test:index:Task";
    constructor(args) {
        super(Task.type, args, taskShape);
    }
    static get(id) {
        return lumi.lookUp(Task, taskShape, Task.get, id);
    }
}

const filter = { values: lumi.required(lumi.constrained(lumi.list(lumi.string), { minItems: 1 })) };
const findShape = lumi.ruled(
    {
        family: lumi.optional(lumi.constrained(lumi.string, { minLength: 2 })),
        filter: lumi.optional(lumi.struct(() => filter)),
        bucket: lumi.optional(lumi.resource("test:index:Bucket")),
        key: lumi.optional(lumi.string, lumi.secretProperty),
        old: lumi.optional(lumi.string, lumi.deprecated("use family")),
        image: lumi.out(lumi.string),
        images: lumi.out(lumi.list(lumi.string)),
        token: lumi.out(lumi.string, lumi.secretProperty),
    },
    ["neither family nor filter is given", ["||", ["has", "family"], ["has", "filter"]]],
);

function findImage(args) {
    return lumi.call("test:index:FindImage", args, findShape, findImage);
}

const names = { environment: "dev", package: "p" };
const urn = (type, name) => `urn:lumi:dev::p:index::test:index:${type}::${name}`;
const ref = (urn, property) => ({ "#ref": urn, ...(property === undefined ? {} : { property }) });
const { $sig, $expr, $secret } = signatures;

/** Returns the resources of a program's graph, without the URNs' common prefix. */
async function resources(program) {
    return (await lumi.evaluateProgram(names, program)).resources;
}

/** Returns the messages of deprecation warnings that a function prints. */
function warnings(body) {
    const found = [];
    const { warn } = console;
    console.warn = (message) => found.push(message);
    try {
        body();
    } finally {
        console.warn = warn;
    }
    return found;
}

function refuses(call, ...lines) {
    assert.throws(call, (error) => {
        assert.ok(error instanceof lumi.ArgumentError, error);
        assert.equal(error.message, lines.join("\n  "));
        assert.match(error.stack.split("\n").find((line) => line.startsWith("    at ")), /lookup\.test\.js/);
        return true;
    });
}

test("a resource that is looked up has outputs as properties, which cannot be assigned", () => {
    const shared = Bucket.get("shared", "b-1");
    assert.ok(shared instanceof Bucket);
    for (const property of ["name", "text", "key", "peer", "arn"]) {
        assert.deepEqual(lumi.reference(shared[property]), { resource: shared, property });
    }
    assert.equal(shared.password, undefined, "a provider never returns properties with in");
    assert.deepEqual(lumi.reference(lumi.urn(shared)), { resource: shared, property: "urn" });
    const { type, name, properties, read } = lumi.evaluate(shared);
    assert.deepEqual({ type, name, properties, read }, { type: Bucket.type, name: "shared", properties: {}, read: "b-1" });
    assert.equal(lumi.evaluate(Task.get("t-1")).name, undefined);
    assert.equal(
        inspect(shared, { breakLength: Infinity }),
        `test:index:Bucket "shared" { name: Output(name of test:index:Bucket "shared"), ` +
            `text: Output(text of test:index:Bucket "shared"), key: '(secret)', ` +
            `peer: Output(peer of test:index:Bucket "shared"), arn: Output(arn of test:index:Bucket "shared") }`,
    );
    for (const property of ["name", "text", "password", "arn"]) {
        assert.throws(() => (shared[property] = "x"), {
            name: "TypeError",
            message:
                `test:index:Bucket "shared": ${property}: cannot be assigned: the resource is read with get, not ` +
                "managed by this program",
        });
    }
    assert.throws(() => (shared.unknown = "x"), TypeError);
    assert.throws(() => `${shared.text}`, {
        message:
            'text of test:index:Bucket "shared" cannot be turned into a string: it is an output, whose value is known ' +
            "only during a deployment; put it into a string with lumi.interpolate`…${output}…`",
    });
    refuses(
        () => new Bucket("b", { text: shared.peer }),
        'test:index:Bucket "b": text: expected a string, found a resource of type test:index:Bucket ' +
            '(output peer of test:index:Bucket "shared")',
    );
});

test("names and ids are checked at the call", () => {
    const bucket = 'test:index:Bucket "b": ';
    refuses(() => Bucket.get("b", ""), `${bucket}id: expected an id, found a string ""`);
    refuses(() => Bucket.get("b", "a\n"), `${bucket}id: expected an id, found a string "a\\n"`);
    refuses(() => Bucket.get("b"), `${bucket}id: expected a string, found undefined`);
    refuses(() => Bucket.get("b", 5), `${bucket}id: expected a string, found a number 5`);
    refuses(() => Bucket.get("b", lumi.secret("hush")), `${bucket}id: must not be a secret: ids are printed`);
    refuses(
        () => Bucket.get("b", findImage({ family: "linux" }).images),
        `${bucket}id: expected a string, found a list (output images of test:index:FindImage)`,
    );
    refuses(
        () => Bucket.get("", {}),
        "test:index:Bucket: 2 arguments are wrong",
        "name: must not be empty",
        "id: expected a string, found an object",
    );
    refuses(() => Task.get(), "test:index:Task: id: expected a string, found undefined");
});

test("arguments of functions are checked at the call", () => {
    const found = "test:index:FindImage: ";
    refuses(() => findImage(), `${found}neither family nor filter is given`);
    refuses(() => findImage("x"), `${found}expected an object with the arguments, found a string`);
    refuses(
        () => findImage({ family: "a", filter: { values: [] }, image: "i", famly: "b", bucket: new Task() }),
        `${found}5 arguments are wrong`,
        "family: must have at least 2 characters, found 1",
        "filter.values: must have at least 1 element, found 0",
        "bucket: expected a resource of type test:index:Bucket, found a resource test:index:Task",
        "image: is set by the provider, not by a program",
        "famly: no such property; did you mean \"family\"?",
    );
    assert.deepEqual(warnings(() => [findImage({ family: "linux", old: "x" }), findImage({ family: "linux", old: "y" })]), [
        "warning: test:index:FindImage: old: is deprecated: use family",
    ]);
});

test("deprecated types warn when looked up", () => {
    const shape = { text: lumi.optional(lumi.string) };
    lumi.deprecate(shape, "use Bucket");
    assert.deepEqual(warnings(() => lumi.lookUp({ type: "test:index:Old", prototype: Task.prototype }, shape, warnings, "x", "o")), [
        'warning: test:index:Old "o": the type is deprecated: use Bucket',
    ]);
});

test("results are outputs", () => {
    const results = findImage({ family: "linux" });
    assert.deepEqual(Object.keys(results), ["image", "images", "token"]);
    assert.throws(() => (results.image = "x"), TypeError);
    assert.equal(inspect(results.image), "Output(image of test:index:FindImage)");
    const why = "it is an output, whose value is known only during a deployment; ";
    const list = "pass the output itself, or one of its elements with lumi.get";
    const message = `images of test:index:FindImage cannot be turned into a list: ${why}${list}`;
    assert.throws(() => { for (const image of results.images) { image; } }, { name: "TypeError", message });
    assert.throws(() => [...results.images], { name: "TypeError", message });
    assert.equal(inspect(lumi.get(results.images, "[0]")), "Output([0] in images of test:index:FindImage)");
    assert.throws(() => lumi.reference(results.image), {
        name: "TypeError", message: "expected an output of a resource, found image of test:index:FindImage",
    });
    refuses(
        () => new Bucket("b", { text: results }),
        'test:index:Bucket "b": text: expected a string, found an object',
    );
    refuses(
        () => new Bucket("b", { text: "t" }, { dependsOn: [results] }),
        'test:index:Bucket "b": options.dependsOn[0]: expected a resource, found an object',
    );
});

// The evaluations come last, since resources cannot be constructed after them.

test("look-ups and calls are vertices", async () => {
    const got = await resources(() => {
        const made = new Bucket("made", { text: "t" });
        const shared = lumi.component("web", () => Bucket.get("shared", "b-1"));
        const other = Bucket.get("other", lumi.interpolate`${made.arn}/x`);
        const task = Task.get(made.arn);
        new Task();
        const { image, token } = findImage({ filter: { values: [shared.text] }, key: "hush", bucket: other });
        findImage({ family: "linux" });
        new Bucket("user", { text: image, key: token, peer: shared }, { dependsOn: [task] });
        new Bucket("ids", { text: lumi.id(shared), key: lumi.id(task) });
    });
    const [made, shared, other] = [urn("Bucket", "made"), urn("Bucket", "web/shared"), urn("Bucket", "other")];
    assert.deepEqual(got, {
        [made]: { type: "test:index:Bucket", properties: { name: "made", text: "t" } },
        [shared]: { type: "test:index:Bucket", options: { read: "b-1" }, properties: {} },
        [other]: {
            type: "test:index:Bucket",
            options: { read: { [$sig]: $expr, interpolate: [ref(made, "arn"), "/x"] } },
            properties: {},
        },
        [urn("FindImage", "#1")]: {
            type: "test:index:FindImage",
            options: { call: true },
            properties: {
                bucket: ref(other),
                filter: { values: [ref(shared, "text")] },
                key: { [$sig]: $secret, value: "hush" },
            },
        },
        [urn("FindImage", "#2")]: {
            type: "test:index:FindImage", options: { call: true }, properties: { family: "linux" },
        },
        [urn("Task", "#1")]: { type: "test:index:Task", options: { read: ref(made, "arn") }, properties: {} },
        [urn("Task", "#2")]: { type: "test:index:Task", properties: {} },
        [urn("Bucket", "user")]: {
            type: "test:index:Bucket",
            options: { dependsOn: [ref(urn("Task", "#1"))] },
            properties: {
                key: { [$sig]: $secret, value: ref(urn("FindImage", "#1"), "token") },
                name: "user",
                peer: ref(shared),
                text: ref(urn("FindImage", "#1"), "image"),
            },
        },
        [urn("Bucket", "ids")]: {
            type: "test:index:Bucket",
            properties: { key: { [$sig]: $secret, value: ref(made, "arn") }, name: "ids", text: "b-1" },
        },
    });
    const order = Object.keys(got);
    assert.ok(order.indexOf(made) < order.indexOf(other) && order.indexOf(other) < order.indexOf(urn("FindImage", "#1")));
});

test("cycles and equal names are errors", async () => {
    assert.deepEqual(await refusal(lumi.evaluateProgram(names, () => {
        const made = new Bucket("made", { text: "t" });
        made.text = Bucket.get("read", made.arn).text;
    })), [
        'error: test:index:Bucket "made": is part of a dependency cycle',
        '  in: new Bucket("made", { text: "t" });',
        '  note: test:index:Bucket "made" refers to test:index:Bucket "read" in text',
        '  in: new Bucket("made", { text: "t" });',
        '  note: test:index:Bucket "read" refers to test:index:Bucket "made" in options.read',
        '  in: get("read", made.arn).text;',
    ]);
    assert.deepEqual(await refusal(lumi.evaluateProgram(names, () => {
        new Bucket("b", { text: "t" });
        Bucket.get("b", "b-1");
    })), [
        'error: test:index:Bucket "b": there is another resource of this type and name',
        '  in: get("b", "b-1");',
        "  note: the other one is constructed here",
        '  in: new Bucket("b", { text: "t" });',
    ]);
});
