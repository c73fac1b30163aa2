// Plugin starts a plugin process and calls it.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import grpc from "@grpc/grpc-js";
import { decode, encode, failure, options, ResourceProvider } from "./protocol.mjs";

export class Plugin {
    // covered holds the names of the methods called successfully, and events all received events. After a call, last is
    // the number of events sent before its response.
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

    // call returns the response, after receiving all events sent before it. If the call fails, it throws the status.
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

    // listen subscribes to events. When it returns, the plugin has accepted the subscription.
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

    // next returns a promise that resolves at the next event.
    next() { return this.#changed.promise; }

    // take returns the events received since the previous call of take.
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
