import { isPlain } from "./describe.js";
import type { Shape, Type } from "./shape.js";

/** What is shown in place of a secret. */
const secretMark = "[secret]";

/** Copies the properties that an object has, with a mark in place of each secret. */
export function withoutSecrets(shape: Shape, value: object): object {
    const copy: [string, unknown][] = [];
    for (const [name, element] of Object.entries(value)) {
        const property = Object.hasOwn(shape, name) ? shape[name] : undefined;
        if (element !== undefined) {
            copy.push([name, property?.secret ? secretMark : property ? redact(property.type, element) : element]);
        }
    }
    return Object.fromEntries(copy);
}

function redact(type: Type, value: unknown): unknown {
    switch (type.kind) {
        case "list":
            return Array.isArray(value) ? value.map((element) => redact(type.element, element)) : value;
        case "map":
            return isObject(value)
                ? Object.fromEntries(Object.entries(value).map(([key, element]) => [key, redact(type.element, element)]))
                : value;
        case "struct":
            return isObject(value) ? withoutSecrets(type.shape(), value) : value;
        case "alias":
            return redact(type.target(), value);
        default:
            return value;
    }
}

/** A program may have assigned anything since the value was checked. */
function isObject(value: unknown): value is object {
    return typeof value === "object" && value !== null && !Array.isArray(value) && isPlain(value);
}
