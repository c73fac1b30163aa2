#!/usr/bin/env node
// A complete provisioner in another language. It stores each resource as a file in the working directory.

import { rmSync, writeFileSync } from "node:fs";
import grpc from "@grpc/grpc-js";
import { fail, fromStruct, kindKey, Provisioner, serve, toStruct } from "./protocol.mjs";

const { INVALID_ARGUMENT, NOT_FOUND } = grpc.status;
const prefix = "files:";

const fileOf = (resource) => `${resource.urn.split("::").at(-1)}.txt`;

// plain returns a string without secret wrappers. It fails with INVALID_ARGUMENT for any other value, including an
// expression.
function plain(v) {
    if (v?.[kindKey]) return "value" in v ? plain(v.value) : fail(INVALID_ARGUMENT, "a text that is not known yet");
    return typeof v === "string" ? v : fail(INVALID_ARGUMENT, "a text must be a string");
}

const handlers = {
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

serve(Provisioner.service, { name: "files", version: "0.1.0" }, handlers);
