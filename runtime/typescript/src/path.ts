import { describeType } from "./describe.js";
import type { Property, Shape, Type } from "./shape.js";
import { didYouMean } from "./suggest.js";

/** A step of a path: a property or key, the index of a list element, or all elements of a list or map. */
export type Step = { readonly text: string } & (
    | { readonly key: string }
    | { readonly index: number }
    | { readonly all: true }
);

const step = /(?<dot>\.?)(?<name>[^.[\]"\p{Z}\p{C}]+)|\[(?:(?<index>0|[1-9]\d*)|(?<key>"(?:[^"\\]|\\.)*")|(?<all>\*))\]/uy;

/** Parses a path such as `tags.env`, `ingress[2].fromPort`, or `tags["a b"]`. Returns `undefined` if it is invalid. */
export function parsePath(path: string): Step[] | undefined {
    const steps: Step[] = [];
    for (step.lastIndex = 0; step.lastIndex < path.length; ) {
        const start = step.lastIndex;
        const found = step.exec(path);
        const { dot, name, index, key, all } = found?.groups ?? {};
        // Reject a bare *, which is probably not meant as a key. The key can be written ["*"].
        if (found === null || name === "*" || (name !== undefined && (dot === "") !== (start === 0))) {
            return undefined;
        }
        if (name !== undefined) {
            steps.push({ text: name, key: name });
        } else if (index !== undefined) {
            steps.push({ text: found[0], index: Number(index) });
        } else if (all !== undefined) {
            steps.push({ text: found[0], all: true });
        } else {
            try {
                steps.push({ text: found[0], key: JSON.parse(key!) as string });
            } catch {
                return undefined;
            }
        }
    }
    return steps.length === 0 ? undefined : steps;
}

/** Returns a path with steps appended. */
export function joinPath(steps: readonly Step[], before: string = ""): string {
    const join = (path: string, { text }: Step): string =>
        path === "" || text.startsWith("[") ? path + text : `${path}.${text}`;
    return steps.reduce(join, before);
}

/**
 * Returns the type of the part at a path of a type, or an error message if there is none. `refused` returns an error
 * message for properties that paths must not contain.
 */
export function follow(
    type: Type,
    steps: readonly Step[],
    refused: (property: Property) => string | undefined = () => undefined,
): Type | string {
    for (const [i, step] of steps.entries()) {
        const path = joinPath(steps.slice(0, i + 1));
        if (type.kind === "any") {
            return type;
        }
        if (type.kind === "struct" && "key" in step) {
            const shape: Shape = type.shape();
            const property = Object.hasOwn(shape, step.key) ? shape[step.key]! : undefined;
            if (property === undefined) {
                const names = Object.keys(shape).filter((name) => refused(shape[name]!) === undefined);
                return `${path}: no such property${didYouMean(step.key, names)}`;
            }
            const problem = refused(property);
            if (problem !== undefined) {
                return `${path}: ${problem}`;
            }
            type = property.type;
        } else if (type.kind === "map" && !("index" in step)) {
            type = type.element;
        } else if (type.kind === "list" && !("key" in step)) {
            type = type.element;
        } else {
            const before = joinPath(steps.slice(0, i));
            const kind = type.kind === "enum" || type.kind === "verb" ? "a string" : describeType(type);
            return `there is no ${step.text} in ${before === "" ? kind : `${before}, ${kind}`}`;
        }
    }
    return type;
}
