import { isPlain } from "./describe.js";
import type { Shape, Type } from "./shape.js";

/** What is shown in place of a secret. */
const secretMark = "[secret]";

/** Copies the properties that an object has, with a mark in place of each secret. */
export function withoutSecrets(shape: Shape, value: object, around: readonly object[] = []): object {
    if (around.includes(value)) {
        // Values that a program assigned may contain themselves until they are checked again.
        return {};
    }
    const inside = [...around, value];
    const copy: [string, unknown][] = [];
    for (const [name, element] of Object.entries(value)) {
        const property = Object.hasOwn(shape, name) ? shape[name] : undefined;
        if (property?.secret) {
            copy.push([name, element === undefined ? undefined : secretMark]);
        } else {
            copy.push([name, property === undefined ? element : redact(property.type, element, inside)]);
        }
    }
    return Object.fromEntries(copy.filter(([, element]) => element !== undefined));
}

function redact(type: Type, value: unknown, around: readonly object[]): unknown {
    switch (type.kind) {
        case "list":
            return Array.isArray(value) ? value.map((element) => redact(type.element, element, around)) : value;
        case "map":
            return isObject(value)
                ? Object.fromEntries(Object.entries(value).map(([key, e]) => [key, redact(type.element, e, around)]))
                : value;
        case "struct":
            return isObject(value) ? withoutSecrets(type.shape(), value, around) : value;
        default:
            return value;
    }
}

/** A program may have assigned anything since the value was checked. */
function isObject(value: unknown): value is object {
    return typeof value === "object" && value !== null && !Array.isArray(value) && isPlain(value);
}
