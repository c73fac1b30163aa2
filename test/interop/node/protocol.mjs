// Code shared by the client, the provider, and the provisioner, based only on the .proto files.

import { timingSafeEqual } from "node:crypto";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const folder = (path) => fileURLToPath(new URL(path, import.meta.url));

const definition = loader.loadSync(["lumirpc/provisioner.proto", "google/rpc/error_details.proto"], {
    includeDirs: [folder("../../../runtime"), folder(".")],
    keepCase: true, longs: Number, enums: String, defaults: true, arrays: true, oneofs: true,
});

export const { Provisioner, ResourceProvider } = grpc.loadPackageDefinition(definition).lumirpc;

// options raises the message size limits and disables proxies.
export const options = {
    "grpc.max_receive_message_length": 512 << 20,
    "grpc.max_send_message_length": 512 << 20,
    "grpc.enable_http_proxy": 0,
};

export const kindKey = "4dabf18193072939515e22adb298388d";
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const secret = (value) => ({ [kindKey]: "1b47061264138c4ac30d75fd1eb44270", value });
export const asset = (fields) => ({ [kindKey]: "c44067f5952c0a294b673a41bacd8c17", ...fields });
export const archive = (fields) => ({ [kindKey]: "0def7320c3a5731c473e5ecbe6d01bc7", ...fields });

// encode converts the plain values in a message to google.protobuf.Struct and Value messages. decode is its inverse.
export function encode(message) {
    const encoded = { ...message };
    for (const bag of ["properties", "old", "new"]) if (message[bag]) encoded[bag] = toStruct(message[bag]);
    if (message.references) encoded.references = each(message.references, encode);
    if (message.changes) {
        encoded.changes = message.changes.map((c) => ({ ...c, old: toValue(c.old), new: toValue(c.new) }));
    }
    return encoded;
}

export function decode(message) {
    const decoded = { ...message };
    for (const bag of ["properties", "old", "new"]) if (message[bag]) decoded[bag] = fromStruct(message[bag]);
    if (message.references) decoded.references = each(message.references, decode);
    if (message.failure) decoded.failure = statusOf(message.failure);
    if (message.changes) {
        decoded.changes = message.changes.map((c) => ({ ...c, old: fromValue(c.old), new: fromValue(c.new) }));
    }
    return decoded;
}

const each = (object, convert) => Object.fromEntries(Object.entries(object ?? {}).map(([key, v]) => [key, convert(v)]));
export const toStruct = (object) => ({ fields: each(object, toValue) });
export const fromStruct = (struct) => each(struct.fields, fromValue);

function toValue(v) {
    switch (typeof v) {
        case "undefined": return undefined;
        case "string": return { stringValue: v };
        case "number": return { numberValue: v };
        case "boolean": return { boolValue: v };
    }
    if (v === null) return { nullValue: "NULL_VALUE" };
    if (Array.isArray(v)) return { listValue: { values: v.map(toValue) } };
    return { structValue: toStruct(v) };
}

function fromValue(v) {
    switch (v?.kind) {
        case undefined: return undefined;
        case "nullValue": return null;
        case "listValue": return v.listValue.values.map(fromValue);
        case "structValue": return fromStruct(v.structValue);
    }
    return v[v.kind];
}

// statusOf decodes a google.rpc.Status and its details.
export function statusOf({ code, message, details }) {
    return {
        code: grpc.status[code],
        message,
        details: details.map(({ type_url, value }) => {
            const type = type_url.slice(type_url.lastIndexOf("/") + 1);
            return { type, ...definition[type].deserialize(value) };
        }),
    };
}

// failure decodes the status of a failed call. The metadata contains it as a google.rpc.Status if it has details.
export function failure({ code, details: message, metadata }) {
    const [detailed] = metadata.get("grpc-status-details-bin");
    return statusOf(detailed ? definition["google.rpc.Status"].deserialize(detailed) : { code, message, details: [] });
}

// fail is the inverse of failure: it throws an error that a handler can pass to its callback.
export function fail(code, message, ...details) {
    const metadata = new grpc.Metadata();
    const status = {
        code, message,
        details: details.map(({ type, ...fields }) =>
            ({ type_url: `type.googleapis.com/${type}`, value: definition[type].serialize(fields) })),
    };
    metadata.set("grpc-status-details-bin", definition["google.rpc.Status"].serialize(status));
    throw Object.assign(new Error(message), { code, details: message, metadata });
}

// authenticated returns an interceptor that rejects calls without the secret before reading their messages.
function authenticated(secret) {
    return (_, call) => new grpc.ServerInterceptingCall(call, {
        start(next) {
            next({
                onReceiveMetadata(metadata, next) {
                    const sent = Buffer.from(metadata.get("lumi-secret").join());
                    if (sent.length === secret.length && timingSafeEqual(sent, secret)) next(metadata);
                    else call.sendStatus({ code: grpc.status.UNAUTHENTICATED, details: "the call does not carry the secret" });
                },
            });
        },
    });
}

// serve starts serving a plugin and returns a function that stops it. The plugin also stops when its parent closes stdin.
// identity holds the fields of the Handshake response. A handler returns its response or calls fail. around wraps each
// call of a handler.
export function serve(service, identity, handlers, around = (request, handle) => handle(request)) {
    const { LUMI_PLUGIN_SECRET: secret } = process.env;
    delete process.env.LUMI_PLUGIN_SECRET;
    if (!secret) {
        console.error(`${basename(process.argv[1])}: this is a plugin, which an engine starts`);
        process.exit(2);
    }
    let greeted = false;
    const respond = (method, request) => {
        const { FAILED_PRECONDITION } = grpc.status;
        if (method === "Handshake") {
            const { protocol_version: version } = request;
            if (version !== 1) fail(FAILED_PRECONDITION, `the engine speaks version ${version}, and the plugin 1`);
            greeted = true;
            return { protocol_version: 1, ...identity };
        }
        if (!greeted) fail(FAILED_PRECONDITION, `${method} was called before Handshake`);
        return around(request, handlers[method]);
    };
    const implementation = {};
    for (const method of ["Handshake", ...Object.keys(handlers)]) implementation[method] = (call, answer) => {
        try {
            answer(null, respond(method, call.request));
        } catch (error) {
            answer(error);
        }
    };
    const server = new grpc.Server({ ...options, interceptors: [authenticated(Buffer.from(secret))] });
    const stop = () => server.tryShutdown(() => process.exit(0));
    process.stdin.on("end", stop).resume();
    process.on("SIGTERM", stop).on("SIGINT", () => {}).on("SIGHUP", () => {});
    server.addService(service, implementation);
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
        if (error) throw error;
        console.log(port);
    });
    return stop;
}
