#!/usr/bin/env node
// A complete provider in another language. It keeps notes in memory and needs no configuration.

import grpc from "@grpc/grpc-js";
import { decode, encode, fail, ResourceProvider, secret, serve, unknown } from "./protocol.mjs";

const { FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND, UNIMPLEMENTED } = grpc.status;
const type = "jot:index:Note";
const properties = [
    { name: "name", kind: "STRING", required: true, replaces: true },
    { name: "text", kind: "STRING", required: true },
    { name: "length", kind: "NUMBER", required: true, out: true },
];

const count = "jot:index:CountNotes";
const counts = [{ name: "minimum", kind: "NUMBER", required: true }, { name: "notes", kind: "NUMBER", required: true, out: true }];

const notes = new Map(); // by id, which equals the name

// judge returns the given properties without secret wrappers. It fails with INVALID_ARGUMENT if any of them is invalid.
function judge(given, unknowns) {
    const faults = [], plain = {};
    for (const path of new Set([...properties.map(({ name }) => name), ...Object.keys(given)])) {
        const property = properties.find(({ name }) => name === path);
        const value = reveal(given[path]) ?? null;
        if (!property) faults.push({ path, message: "no such property" });
        else if (property.out && value !== null) faults.push({ path, message: "is set by the provider" });
        else if (!property.out && value === null) faults.push({ path, message: "is required, but missing" });
        else if (!property.out && typeof value !== "string") faults.push({ path, message: "is not a string" });
        else if (value === unknown && !unknowns) faults.push({ path, message: "is not known yet" });
        plain[path] = value;
    }
    if (faults.length) {
        const message = faults.map(({ path, message }) => `${path}: ${message}`).join("\n");
        fail(INVALID_ARGUMENT, message, { type: "lumirpc.Faults", faults });
    }
    return plain;
}

const isSecret = (v) => typeof v === "object" && v !== null;
const reveal = (v) => isSecret(v) ? v.value : v;

const handlers = {
    Describe({ types }) {
        const described = [{ type: count, function: true, properties: counts }, { type, named: true, idempotent_create: true, properties }];
        for (const t of types) if (![type, count].includes(t)) fail(UNIMPLEMENTED, `no such type: ${t}`);
        return { types: types.length ? types.map((t) => described.find((d) => d.type === t)) : described };
    },
    Check({ properties }) {
        judge(properties, true);
        return { properties };
    },
    Name: ({ properties }) => ({ name: judge(properties, true).name }),
    Create({ properties }) {
        const { name, text } = judge(properties);
        const length = isSecret(properties.text) ? secret(text.length) : text.length;
        notes.set(name, { ...properties, length });
        return { id: name, properties: { length } };
    },
    Get: ({ id }) => ({ properties: notes.get(id) ?? fail(NOT_FOUND, `${id}: no such resource`) }),
    InspectChange({ old, new: want }) {
        judge(want, true);
        const paths = ["name", "text"].filter((path) => reveal(old[path]) !== reveal(want[path]));
        return {
            changes: paths.map((path) => {
                const change = { kind: "MODIFIED", path, unknown: reveal(want[path]) === unknown };
                if (isSecret(old[path]) || isSecret(want[path])) return { ...change, secret: true };
                return { ...change, old: old[path], new: want[path] };
            }),
            replaces: paths.filter((path) => path === "name"),
        };
    },
    Update({ id, old, new: want }) {
        judge(want);
        const { replaces: paths } = handlers.InspectChange({ old, new: want });
        if (paths.length) fail(FAILED_PRECONDITION, "needs a replacement", { type: "lumirpc.Replacement", paths });
        if (!notes.has(id)) fail(NOT_FOUND, `${id}: no such resource`);
        return { properties: handlers.Create({ properties: want }).properties };
    },
    Delete({ id }) {
        notes.delete(id);
        return {};
    },
    Call({ properties: { minimum } }) {
        const faults = [{ path: "minimum", message: "is not a number" }];
        if (typeof minimum !== "number") fail(INVALID_ARGUMENT, "minimum: is not a number", { type: "lumirpc.Faults", faults });
        return { properties: { notes: [...notes.values()].filter(({ length }) => length >= minimum).length } };
    },
    Cancel() {
        stop();
        return {};
    },
};

const identity = { package: "jot", version: "0.1.0", types: [type], functions: [count] };
const stop = serve(ResourceProvider.service, identity, handlers, (request, handle) => {
    const { type: token } = request;
    if (token !== undefined && ![type, count].includes(token)) fail(UNIMPLEMENTED, `no such type: ${token}`);
    return encode(handle(decode(request)));
});
