// Conversions between values in graphs and values in programs. Unknown outputs have the type any.

import * as lumi from "../dist/index.js";
import { output } from "../dist/output.js";
import { encode, signatureKey, unknownValue } from "../dist/wire.js";

export const signatures = {
    $sig: signatureKey,
    $expr: "63fc8277790b7f8a51f0478af443e94d",
    $secret: "1b47061264138c4ac30d75fd1eb44270",
    $asset: "c44067f5952c0a294b673a41bacd8c17",
    $unknown: unknownValue,
};

class Thing extends lumi.NamedResource {
    constructor(name, shape) {
        super("test:index:Thing", name, {}, shape);
    }
}

/** Evaluates a value in a graph. `outputs` are the known outputs of resource r. */
export function evaluate(value, outputs = {}) {
    const shape = new Proxy({}, { ownKeys: () => [], get: () => ({ type: lumi.any, out: true }) });
    const r = new Thing("r", shape);
    const decode = (value) => {
        if (typeof value !== "object" || value === null) {
            return value;
        }
        if (Array.isArray(value)) {
            return value.map(decode);
        }
        if (Object.hasOwn(value, "#ref")) {
            const { property } = value;
            if (property === undefined) {
                return r;
            }
            return Object.hasOwn(outputs, property) && outputs[property] !== unknownValue
                ? decode(outputs[property])
                : output({ resource: r, property });
        }
        const { [signatureKey]: signature, ...content } = value;
        switch (signature) {
            case undefined:
                return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, decode(part)]));
            case signatures.$secret:
                return output({ value: decode(content.value), secret: true });
            case signatures.$asset:
                return lumi.Asset.fromText(content.text);
            case signatures.$expr:
                return express(content);
        }
        throw new Error(`no value has the signature ${signature}`);
    };
    const express = (content) => {
        switch (Object.keys(content).sort().join()) {
            case "interpolate": {
                const parts = content.interpolate.map(decode);
                return lumi.interpolate(Object.assign(["", ...parts.map(() => "")], { raw: [] }), ...parts);
            }
            case "jsonStringify":
                return lumi.jsonStringify(decode(content.jsonStringify));
            case "get,path":
                return lumi.get(decode(content.get), content.path);
            case "uniqueName":
            case "length,uniqueName":
                return lumi.uniqueName(content.uniqueName, { length: content.length });
        }
        throw new Error("this is not an expression");
    };
    const refer = (_, property) => ({ "#ref": "r", ...(property === undefined ? {} : { property }) });
    return encode({}, { value: decode(value) }, refer).value;
}
