#!/usr/bin/env node
// A complete provisioner in another language: resources as files in the working directory.

import { timingSafeEqual } from "node:crypto";
import { basename } from "node:path";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import grpc from "@grpc/grpc-js";
import { fromStruct, options, Provisioner, toStruct } from "./protocol.mjs";

const { FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND, UNAUTHENTICATED } = grpc.status;
const kindKey = "4dabf18193072939515e22adb298388d";
const prefix = "files:";
let greeted = false;

const fail = (code, details) => { throw Object.assign(new Error(details), { code, details }); };
const fileOf = (resource) => `${resource.urn.split("::").at(-1)}.txt`;

// plain returns a value without the wrappers of secrets. The tool knows no expressions.
function plain(v) {
    if (v?.[kindKey]) return "value" in v ? plain(v.value) : fail(INVALID_ARGUMENT, "a text that is not known yet");
    return typeof v === "string" ? v : fail(INVALID_ARGUMENT, "a text must be a string");
}

// Each handler returns its response or throws a status.
const handlers = {
    Handshake({ protocol_version: version }) {
        if (version !== 1) fail(FAILED_PRECONDITION, `the engine speaks version ${version}, and the plugin 1`);
        greeted = true;
        return { protocol_version: 1, name: "files", version: "0.1.0" };
    },
    Plan({ change }) {
        return { text: change.new.map((r) => `write ${fileOf(r)}\n`).join(""), tasks: [] };
    },
    Provision({ change }) {
        const files = {};
        for (const r of change.new) {
            files[r.key] = fileOf(r);
            writeFileSync(files[r.key], plain(fromStruct(r.properties).text));
        }
        const kept = Object.values(files);
        for (const r of change.old) if (!kept.includes(fileOf(r))) rmSync(fileOf(r), { force: true });
        return { token: prefix + JSON.stringify(files) };
    },
    Status({ token }) {
        let files;
        try {
            files = JSON.parse(token.startsWith(prefix) ? token.slice(prefix.length) : "");
        } catch {
            fail(NOT_FOUND, `no such token: ${token}`);
        }
        const metadata = Object.entries(files).map(([key, file]) => [key, toStruct({ file })]);
        return { state: "DONE", metadata: Object.fromEntries(metadata) };
    },
};

// Calls without the secret end before their messages are read, whatever they are for.
const expected = Buffer.from(process.env.LUMI_PLUGIN_SECRET ?? "");
delete process.env.LUMI_PLUGIN_SECRET;
if (!expected.length) {
    console.error(`${basename(process.argv[1])}: this is a plugin, which an engine starts`);
    process.exit(2);
}

function authenticate(_, call) {
    return new grpc.ServerInterceptingCall(call, {
        start(next) {
            next({
                onReceiveMetadata(metadata, next) {
                    const sent = Buffer.from(metadata.get("lumi-secret").join());
                    if (sent.length === expected.length && timingSafeEqual(sent, expected)) next(metadata);
                    else call.sendStatus({ code: UNAUTHENTICATED, details: "the call does not carry the secret" });
                },
            });
        },
    });
}

const implementation = {};
for (const [method, handle] of Object.entries(handlers)) implementation[method] = (call, answer) => {
    try {
        if (!greeted && method !== "Handshake") fail(FAILED_PRECONDITION, `${method} was called before Handshake`);
        answer(null, handle(call.request));
    } catch (error) {
        answer(error);
    }
};

const server = new grpc.Server({ ...options, interceptors: [authenticate] });
const stop = () => server.tryShutdown(() => process.exit(0));
process.stdin.on("end", stop).resume();
process.on("SIGTERM", stop).on("SIGINT", () => {}).on("SIGHUP", () => {});
server.addService(Provisioner.service, implementation);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    console.log(port);
});
