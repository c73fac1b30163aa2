// Starts a plugin and calls it.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import grpc from "@grpc/grpc-js";
import { decode, encode, failure, options, ResourceProvider } from "./protocol.mjs";

export class Plugin {
    // covered holds the successful calls, and events the received events. last is the position of the last event sent
    // before the last response.
    covered = new Set();
    events = [];
    #changed = deferred();

    static async start(path, cwd) {
        const plugin = new Plugin();
        plugin.secret = randomBytes(16).toString("hex");
        plugin.process = spawn(path, [], {
            cwd, stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, LUMI_PLUGIN_SECRET: plugin.secret },
        });
        plugin.ended = once(plugin.process, "exit").then(([code, signal]) => code ?? signal);
        const lines = createInterface({ input: plugin.process.stdout });
        [plugin.port] = await Promise.race([once(lines, "line"), plugin.ended.then((code) => {
            throw new Error(`the plugin ended with ${code} before it was ready`);
        })]);
        lines.on("line", (line) => console.error(line));
        plugin.client = plugin.connect();
        return plugin;
    }

    connect() {
        return new ResourceProvider(`127.0.0.1:${this.port}`, grpc.credentials.createInsecure(), options);
    }

    metadata(secret = this.secret) {
        const metadata = new grpc.Metadata();
        if (secret) metadata.set("lumi-secret", secret);
        return metadata;
    }

    // call returns the response after all events that were sent before it. It throws the status of a failed call.
    async call(method, request = {}, { secret, client = this.client } = {}) {
        const { response, status } = await new Promise((resolve) => {
            let response;
            client[method](encode(request), this.metadata(secret), (_, r) => { response = r; })
                .on("status", (status) => resolve({ response, status }));
        });
        const [last] = status.metadata.get("lumi-events");
        this.last = Number(last ?? 0);
        while (this.last > this.events.length) await this.next();
        if (status.code !== grpc.status.OK) throw failure(status);
        this.covered.add(method);
        return decode(response);
    }

    // listen returns once no more events can be missed.
    async listen() {
        const stream = this.client.Events({}, this.metadata());
        stream.on("data", ({ urn, severity, message, progress, dropped }) => {
            this.covered.add("Events");
            this.events.push({ urn, severity, message, progress, dropped });
            this.#changed.resolve();
            this.#changed = deferred();
        });
        const ended = once(stream, "end");
        ended.catch(() => {});
        await once(stream, "metadata").catch((status) => { throw failure(status); });
        return { ended };
    }

    // next returns after the next event.
    next() { return this.#changed.promise; }

    // take returns the events since its last call.
    taken = 0;
    take() {
        const events = this.events.slice(this.taken);
        this.taken = this.events.length;
        return events;
    }
}

function deferred() {
    const d = {};
    d.promise = new Promise((resolve) => { d.resolve = resolve; });
    return d;
}
