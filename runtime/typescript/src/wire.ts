import { Archive, Asset } from "./asset.js";
import { type Output, isOutput, open, sourceOf } from "./output.js";
import type { Refer } from "./recorder.js";
import { type Properties, type Shape, type Type, isPlain } from "./shape.js";
import { stateOf } from "./state.js";

/** The key that marks assets, archives, secrets, and expressions on the wire. */
export const signatureKey = "4dabf18193072939515e22adb298388d";

/** The placeholder for an unknown value on the wire. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const assetSignature = "c44067f5952c0a294b673a41bacd8c17";
const archiveSignature = "0def7320c3a5731c473e5ecbe6d01bc7";
/** The signature of secrets on the wire. */
export const secretSignature = "1b47061264138c4ac30d75fd1eb44270";
const expressionSignature = "63fc8277790b7f8a51f0478af443e94d";

/** Converts checked properties to wire form. `refer` returns references to resources. */
export function encode(shape: Shape, properties: Properties, refer: Refer): object {
    const encoded = Object.entries(properties).map(([name, value]) => {
        // In packages of older generations, the name of a resource is not in its shape.
        const property = Object.hasOwn(shape, name) ? shape[name] : undefined;
        if (property?.secret) {
            const plain = encodeValue(property.type, open(value).content, refer);
            return [name, signed(secretSignature, { value: plain })];
        }
        return [name, encodeValue(property?.type, value, refer)];
    });
    return Object.fromEntries(encoded);
}

/** Converts a value to wire form. The type is used only to find properties declared secret. */
export function encodeValue(type: Type | undefined, value: unknown, refer: Refer): unknown {
    if (isOutput(value)) {
        return encodeOutput(type, value, refer);
    }
    if (stateOf(value) !== undefined) {
        return refer(value as object);
    }
    if (value instanceof Asset) {
        return signed(assetSignature, value.source);
    }
    if (value instanceof Archive) {
        const { source } = value;
        const content = "assets" in source ? { assets: encodeEntries(source.assets, undefined, refer) } : source;
        return signed(archiveSignature, content);
    }
    if (Array.isArray(value)) {
        const element = type?.kind === "list" ? type.element : undefined;
        return value.map((each) => encodeValue(element, each, refer));
    }
    if (isPlain(value)) {
        if (type?.kind === "struct") {
            return encode(type.shape(), value, refer);
        }
        return encodeEntries(value, type?.kind === "map" ? type.element : undefined, refer);
    }
    return value;
}

function encodeOutput(type: Type | undefined, value: Output<unknown>, refer: Refer): unknown {
    const source = sourceOf(value);
    if ("resource" in source) {
        return refer(source.resource, source.property);
    }
    if ("use" in source) {
        return refer(source.use, `provides.${source.name}`);
    }
    if ("value" in source) {
        const { content, secret } = open(value);
        const plain = encodeValue(type, content, refer);
        return secret ? signed(secretSignature, { value: plain }) : plain;
    }
    if ("uniqueName" in source) {
        const { uniqueName, length } = source;
        return signed(expressionSignature, { uniqueName, ...(length === undefined ? {} : { length }) });
    }
    const encode = (part: unknown): unknown => encodeValue(undefined, part, refer);
    if ("interpolate" in source) {
        return signed(expressionSignature, { interpolate: source.interpolate.map(encode) });
    }
    return "get" in source
        ? signed(expressionSignature, { get: encode(source.get), path: source.path })
        : signed(expressionSignature, { jsonStringify: encode(source.jsonStringify) });
}

function encodeEntries(entries: Properties, element: Type | undefined, refer: Refer): object {
    return Object.fromEntries(
        Object.entries(entries).map(([key, value]) => [key, encodeValue(element, value, refer)]),
    );
}

function signed(signature: string, content: object): object {
    return { [signatureKey]: signature, ...content };
}
