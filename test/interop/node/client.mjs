// Makes every call of the protocol to lumi-resource-depot, whose path is the first argument, and prints the names of the
// successful calls.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Plugin } from "./plugin.mjs";
import { archive, asset, secret, unknown } from "./protocol.mjs";

const cwd = realpathSync(mkdtempSync(join(tmpdir(), "interop-")));
process.on("exit", () => rmSync(cwd, { recursive: true }));
writeFileSync(join(cwd, "label.txt"), "fragile");
const plugin = await Plugin.start(process.argv[2], cwd);

// returns makes a call and asserts that it returns want. refuses asserts that it fails with the given status.
async function returns(method, request, want, options) {
    assert.deepEqual(await plugin.call(method, request, options), want);
}

async function refuses(method, request, code, message, details = [], options) {
    await assert.rejects(plugin.call(method, request, options), { code, message, details });
}

const sha256 = (data) => createHash("sha256").update(data);
const fault = (path, message) => ({ type: "lumirpc.Faults", faults: [{ path, message }] });
const later = { type: "google.rpc.RetryInfo", retry_delay: { seconds: 1, nanos: 500_000_000 } };
const uncertain = { type: "lumirpc.Uncertain" };
const seal = (n) => secret(`sealseal${n}`);

const urnOf = (type, name) => `urn:lumi:dev::app:index::${type}::${name}`;
const shelf = { type: "depot:index:Shelf", urn: urnOf("depot:index:Shelf", "shelf-of-3") };
const crate = { type: "depot:index:Crate", urn: urnOf("depot:index:Crate", "box") };
const references = { [shelf.urn]: { id: "shelf-1", properties: { rows: 3 } } };

async function authenticate() {
    const refusal = "the call does not carry the secret of the plugin's parent process";
    for (const secret of [null, "wrong"]) {
        const client = plugin.connect();
        await refuses("Handshake", { protocol_version: 1 }, "UNAUTHENTICATED", refusal, [], { secret, client });
        client.close();
    }
}

async function introduce() {
    await refuses("Describe", {}, "FAILED_PRECONDITION", "Describe was called before Handshake");
    await refuses("Cancel", {}, "FAILED_PRECONDITION", "Cancel was called before Handshake");
    await refuses("Handshake", { protocol_version: 2 }, "FAILED_PRECONDITION",
        "the engine speaks protocol version 2, the plugin speaks version 1: update the older one");
    await returns("Handshake", { protocol_version: 1 }, {
        protocol_version: 1, package: "depot", version: "1.2.3", configurable: true,
        types: ["depot:index:Crate", "depot:index:Shelf"], functions: ["depot:index:FindCrate"],
    });
}

let stream;

async function listen() {
    stream = await plugin.listen();
    const message = "the events are already being read";
    await assert.rejects(plugin.listen(), { code: "FAILED_PRECONDITION", message });
}

async function describe() {
    const property = (name, kind, ...flags) => ({
        name, kind, required: flags.includes("required"), out: flags.includes("out"), in: flags.includes("in"),
        replaces: flags.includes("replaces"), secret: flags.includes("secret"), fixed: flags.includes("fixed"), was: [],
        computed: false, equality: 0,
    });
    const crates = {
        type: "depot:index:Crate", named: true, can_find: true, idempotent_create: true, equalities: [], name_rules: null,
        repeatable_change: false, function: false,
        properties: [
            property("name", "STRING", "required", "replaces"), property("size", "NUMBER", "required", "replaces"),
            property("lid", "STRING"), property("contents", "MAP"), property("rules", "STRING"),
            property("alias", "STRING"), property("color", "STRING"), property("key", "STRING", "secret"),
            property("shelf", "CAPABILITY"), property("label", "ASSET"), property("papers", "ARCHIVE"),
            property("trouble", "STRING"), property("serial", "STRING", "required", "out"),
            property("place", "STRING", "out"), property("seal", "STRING", "required", "out", "secret"),
        ],
    };
    const shelves = {
        type: "depot:index:Shelf", named: false, can_find: false, idempotent_create: false, equalities: [], name_rules: null,
        repeatable_change: false, function: false, properties: [property("rows", "NUMBER", "required")],
    };
    const search = {
        type: "depot:index:FindCrate", named: false, can_find: false, idempotent_create: false, equalities: [], name_rules: null,
        repeatable_change: false, function: true,
        properties: [
            property("serial", "STRING", "required"), property("shelf", "CAPABILITY"),
            property("crate", "STRING", "required", "out"), property("seal", "STRING", "required", "out", "secret"),
        ],
    };
    await returns("Describe", {}, { types: [crates, search, shelves] });
    await returns("Describe", { types: ["depot:index:Shelf"] }, { types: [shelves] });
    await refuses("Describe", { types: ["depot:index:Box"] }, "UNIMPLEMENTED",
        'the plugin for package "depot" does not serve type "depot:index:Box"');
}

async function configure() {
    await refuses("Check", { ...crate, properties: {} }, "FAILED_PRECONDITION", "the provider is not configured yet");
    await refuses("Configure", { properties: { site: "moon", password: secret("open-sesame") } },
        "INVALID_ARGUMENT", "site: has no depot", [fault("site", "has no depot")]);
    await refuses("Configure", { properties: { site: "oslo" } }, "INVALID_ARGUMENT",
        "password: is required, but missing", [fault("password", "is required, but missing")]);
    plugin.take();
    await returns("Configure", { properties: { site: "oslo", password: secret("open-sesame") } }, {});
    assert.deepEqual(plugin.take(), [{
        urn: "", severity: "INFO", message: "opening the gate with=(secret)", progress: false, dropped: 0,
    }]);
    await refuses("Configure", { properties: {} }, "FAILED_PRECONDITION", "the provider is already configured");
}

// checked holds the crate's properties as returned by Check. Later calls use them.
let checked;

async function check() {
    const given = {
        name: "box", size: 2, lid: "nails", contents: { apple: 3 }, key: secret("hush-hush"), shelf: shelf.urn,
        label: asset({ path: "label.txt" }), papers: archive({ assets: { "a.txt": asset({ text: "hello" }) } }),
        color: null,
    };
    const { color, ...kept } = given;
    checked = {
        ...kept, alias: "box-",
        label: asset({ path: "label.txt", hash: sha256("fragile").digest("hex") }), papers: { ...given.papers },
    };
    const record = [Buffer.from([0, 0, 0, 0, 0, 0, 0, 5]), Buffer.from("a.txt\0"), sha256("hello").digest()];
    checked.papers.hash = sha256(Buffer.concat(record)).digest("hex");
    const seed = Buffer.from("seed");
    const first = await plugin.call("Check", { ...crate, properties: given, references, seed });
    checked.alias = first.properties.alias;
    assert.match(checked.alias, /^box-[a-z0-9]{6}$/);
    assert.deepEqual(first, { properties: checked });
    await returns("Check", { ...crate, properties: given, references, seed }, { properties: checked });
    const another = { ...crate, properties: given, references, seed: Buffer.from("another") };
    await returns("Check", { ...another, old: checked }, { properties: checked });
    assert.notEqual((await plugin.call("Check", another)).properties.alias, checked.alias);
    const unsure = { alias: unknown, shelf: unknown, contents: { apple: unknown } };
    await returns("Check", { ...crate, properties: { ...kept, ...unsure } }, { properties: { ...checked, ...unsure } });

    const wrong = { ...kept, lid: "cork", label: asset({ path: "none.txt" }), labels: 1, serial: "x" };
    const faults = [
        { path: "lid", message: 'expected "none", "nails" or "lock", found a string "cork"' },
        { path: "label", message: `"none.txt": no such file in "${cwd}"` },
        { path: "serial", message: "is set by the provider, not by a program" },
        { path: "labels", message: 'no such property; did you mean "label"?' },
    ];
    await refuses("Check", { ...crate, properties: wrong }, "INVALID_ARGUMENT",
        faults.map(({ path, message }) => `${path}: ${message}`).join("\n"), [{ type: "lumirpc.Faults", faults }]);
    await refuses("Check", { ...crate, properties: { ...kept, size: -1 } }, "INVALID_ARGUMENT",
        "size: is negative", [fault("size", "is negative")]);
    await refuses("Check", { ...crate, urn: shelf.urn, properties: given }, "INVALID_ARGUMENT",
        "the request is for type depot:index:Crate, but its URN is of type depot:index:Shelf");
    // Node accepts at most 64 KiB of metadata. Non-ASCII characters take the most space.
    const many = Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`${"ä".repeat(i % 50)}${i}`, -1]));
    const error = await plugin.call("Check", { ...crate, properties: { ...kept, contents: many } }).catch((e) => e);
    assert.equal(error.code, "INVALID_ARGUMENT");
    assert.ok(Buffer.byteLength(error.message) > 8000);
    const [{ faults: some }] = error.details;
    assert.ok(some.length > 100);
    assert.deepEqual(some.at(-1), { path: "", message: "there may be more errors" });
}

async function name() {
    await returns("Name", { ...shelf, urn: urnOf(shelf.type, "#1"), properties: { rows: 3 } }, { name: "shelf-of-3" });
    await returns("Name", { ...crate, properties: checked, references }, { name: "box" });
    await refuses("Name", { ...crate, properties: { ...checked, name: unknown } }, "INVALID_ARGUMENT",
        "name: must be known here, but is not known yet", [fault("name", "must be known here, but is not known yet")]);
}

// sealing is the event sent by Create.
const sealing = { urn: crate.urn, severity: "WARNING", message: "sealing key=(secret)", progress: false, dropped: 0 };

async function create() {
    plugin.take();
    await returns("Create", { ...shelf, properties: { rows: 3 }, token: "s" },
        { id: "shelf-1", properties: {}, failure: null });
    const request = { ...crate, properties: checked, references, token: "t1" };
    const made = { id: "crate-1", properties: { serial: "oslo/1", place: "shelf-1", seal: seal(1) }, failure: null };
    await returns("Create", request, made);
    await returns("Create", request, made);
    assert.deepEqual(plugin.take(), [sealing, sealing]);
    assert.equal(plugin.last, 3);
    const unknowns = "must be known here, but is not known yet";
    await refuses("Create", { ...request, properties: { ...checked, alias: unknown } }, "INVALID_ARGUMENT",
        `alias: ${unknowns}`, [fault("alias", unknowns)]);

    const trouble = (trouble) => ({ ...request, properties: { ...checked, trouble }, token: trouble });
    await refuses("Create", trouble("fail"), "UNKNOWN", "the depot is closed");
    const { size, contents } = checked;
    await returns("Create", trouble("half"), {
        id: "crate-2",
        properties: { name: "box", size, contents, serial: "oslo/2", place: "shelf-1", seal: seal(2) },
        failure: { code: "INVALID_ARGUMENT", message: "lid: does not fit", details: [fault("lid", "does not fit")] },
    });
    await refuses("Create", trouble("lost"), "ABORTED", "the depot hung up", [uncertain]);
    await refuses("Create", trouble("busy"), "UNAVAILABLE", "the depot is busy", [later]);
    await refuses("Create", trouble("panic"), "INTERNAL", "the provider panicked: the key is (secret)");
}

async function find() {
    const request = { ...crate, properties: { ...checked, trouble: "lost" }, references, token: "lost" };
    await returns("Find", request, { id: "crate-3" });
    await refuses("Find", { ...request, token: "none" }, "NOT_FOUND", "no crate has the token none: no such resource");
    await refuses("Find", { ...shelf, properties: { rows: 3 }, token: "s" }, "UNIMPLEMENTED",
        "the provider cannot find resources of type depot:index:Shelf: unsupported operation");
}

// state holds the crate's inputs and outputs.
let state;

async function get() {
    state = { ...checked, serial: "oslo/1", place: "shelf-1", seal: seal(1) };
    await returns("Get", { type: crate.type, id: "crate-1", purpose: "IMPORT" }, { properties: state });
    await returns("Get", { ...crate, id: "crate-1", purpose: "REFRESH", old: state, references },
        { properties: state });
    await refuses("Get", { ...crate, id: "crate-9", purpose: "REFRESH", old: state, references }, "NOT_FOUND",
        "crate-9: no such resource");
    await refuses("Get", { ...crate, id: "crate-1", old: state }, "INVALID_ARGUMENT",
        /purpose.* must be REFRESH or IMPORT/);
}

async function search() {
    const request = { type: "depot:index:FindCrate", properties: { serial: "oslo/1", shelf: shelf.urn }, references };
    plugin.take();
    await returns("Call", request, { properties: { crate: "crate-1", seal: seal(1) } });
    await returns("Call", request, { properties: { crate: "crate-1", seal: seal(1) } });
    const searching = { urn: "", severity: "INFO", message: "searching", progress: false, dropped: 0 };
    assert.deepEqual(plugin.take(), [searching, searching]);
    await refuses("Call", { ...request, properties: { serial: "oslo/9" } }, "NOT_FOUND",
        "crate with serial number oslo/9: no such resource");
    await refuses("Call", { ...request, references: {} }, "INVALID_ARGUMENT", "shelf: does not hold crate-1",
        [fault("shelf", "does not hold crate-1")]);
    const faults = [
        { path: "serial", message: "must be known here, but is not known yet" },
        { path: "seal", message: "is set by the provider, not by a program" },
    ];
    await refuses("Call", { ...request, properties: { serial: unknown, seal: "x" } }, "INVALID_ARGUMENT",
        faults.map(({ path, message }) => `${path}: ${message}`).join("\n"), [{ type: "lumirpc.Faults", faults }]);
    await refuses("Call", { type: "depot:index:Crate" }, "UNIMPLEMENTED",
        'the plugin for package "depot" does not serve function "depot:index:Crate"');
}

const change = (kind, path, values) =>
    ({ kind, path, old: undefined, new: undefined, unknown: false, secret: false, ...values });

async function inspect() {
    const rules = { old: '{"a": [1]}', new: '{"a":[1]}' };
    const old = { ...state, rules: rules.old, lid: "lock" };
    const request = { ...crate, id: "crate-1", old, new: { ...checked, rules: rules.old, lid: "lock" }, references };
    const same = { changes: [], replaces: [], delete_before_replace: false, properties: null };
    await returns("InspectChange", request, same);
    const now = {
        ...request.new, contents: { apple: 3, pear: 1 }, alias: unknown, key: secret("another key"), shelf: null,
    };
    await returns("InspectChange", { ...request, new: now }, {
        ...same,
        changes: [
            change("MODIFIED", "alias", { old: checked.alias, new: unknown, unknown: true }),
            change("ADDED", "contents.pear", { new: 1 }),
            change("MODIFIED", "key", { secret: true }),
            change("REMOVED", "shelf", { old: shelf.urn }),
        ],
    });
    await returns("InspectChange", { ...request, new: { ...request.new, size: 3, lid: "nails" } }, {
        ...same,
        changes: [
            change("MODIFIED", "lid", { old: "lock", new: "nails" }), change("MODIFIED", "size", { old: 2, new: 3 }),
        ],
        replaces: ["lid", "size"], delete_before_replace: true,
    });
    const spelled = { ...request.new, rules: rules.new, color: "red" };
    await returns("InspectChange", { ...request, new: spelled }, {
        ...same, changes: [change("ADDED", "color", { new: "red" })], properties: { ...spelled, rules: rules.old },
    });
    // An older version of the IDL called the property paint.
    const painted = { ...request, old: { ...old, paint: "red" }, new: { ...request.new, color: "red" } };
    await returns("InspectChange", painted, same);
}

async function update() {
    const wanted = { ...checked, contents: { pear: 1 }, color: "blue" };
    const request = { ...crate, id: "crate-1", old: state, new: wanted, references };
    await refuses("Update", { ...request, new: { ...wanted, size: 3 } }, "FAILED_PRECONDITION",
        "changing size requires a replacement, not an update", [{ type: "lumirpc.Replacement", paths: ["size"] }]);
    const computed = { serial: "oslo/1+", place: "shelf-1", seal: seal(1) };
    plugin.take();
    await returns("Update", { ...request, new: { ...wanted, trouble: "half" } }, {
        properties: { ...state, contents: { pear: 1 } },
        failure: { code: "INVALID_ARGUMENT", message: "lid: does not fit", details: [fault("lid", "does not fit")] },
    });
    assert.deepEqual(plugin.take(), [{
        urn: crate.urn, severity: "INFO", message: "opening crate crate-1", progress: true, dropped: 0,
    }]);
    await returns("Update", request, { properties: computed, failure: null });
    await refuses("Update", { ...request, id: "crate-9" }, "NOT_FOUND", "crate crate-9: no such resource");
    await refuses("Update", { ...request, new: { ...wanted, trouble: "fail" } }, "UNKNOWN", "the depot is closed");
    await refuses("Update", { ...request, new: { ...wanted, trouble: "lost" } },
        "ABORTED", "the depot hung up", [uncertain]);
    Object.assign(state, wanted, computed);
}

async function remove() {
    const request = { ...crate, id: "crate-1", properties: state, references };
    await refuses("Delete", { ...request, properties: { ...state, trouble: "busy" } },
        "UNAVAILABLE", "the depot is busy", [later]);
    await returns("Delete", request, {});
    await returns("Delete", request, {});
    await refuses("Delete", { ...crate, properties: state, references }, "INVALID_ARGUMENT", "the request has no id");
}

// cancel checks that Cancel aborts the call in flight and ends the event stream.
async function cancel() {
    const old = { ...state, trouble: null };
    const wanted = { ...checked, trouble: "slow" };
    const slow = plugin.call("Update", { ...crate, id: "crate-2", old, new: wanted, references });
    slow.catch(() => {});
    while (plugin.events.at(-1).message !== "waiting") await plugin.next();
    await returns("Cancel", {}, {});
    await assert.rejects(slow, { code: "ABORTED", message: "context canceled", details: [uncertain] });
    await stream.ended;
    assert.equal(await plugin.ended, 0);
}

async function main() {
    await authenticate();
    await introduce();
    await listen();
    await describe();
    await configure();
    await check();
    await name();
    await create();
    await find();
    await get();
    await search();
    await inspect();
    await update();
    await remove();
    await cancel();
    console.log(JSON.stringify([...plugin.covered]));
}

await main().finally(() => plugin.process.stdin.end()); // stops the plugin even if the client failed
plugin.client.close();
