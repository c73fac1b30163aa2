import type { Graph } from "./graph.js";
import { compare } from "./names.js";

/** Returns a graph as canonical LumiGL, which `lumi fmt` does not change. */
export function formatGraph(graph: Graph): string {
    const { ref, package: pkg, config, configuration, resources } = graph;
    const format = new Formatter(ref ?? "#ref");
    const top: Entry[] = [
        ["ref", ref === undefined ? undefined : format.value(ref, 1)],
        ["package", format.value(pkg, 1)],
        ...Object.entries({ config, configuration }).map(([key, value]): Entry => [
            key, value === undefined ? undefined : new Formatter(undefined).value(value, 1),
        ]),
        ["resources", ""],
    ];
    // The text may be large, so join it only once.
    const parts = [braces(top, 0).slice(0, -"\n}".length)];
    for (const [urn, { type, options, source, properties }] of Object.entries(resources)) {
        const resource: Entry[] = [
            ["type", format.value(type, 3)],
            ["options", options === undefined ? undefined : format.value(options, 3)],
            ["source", source === undefined ? undefined : format.value(source, 3)],
            ["properties", format.value(properties, 3)],
        ];
        parts.push(parts.length === 1 ? "{\n    " : ",\n    ", JSON.stringify(urn), ": ", braces(resource, 2));
    }
    parts.push(parts.length === 1 ? "{}\n}\n" : "\n  }\n}\n");
    return parts.join("");
}

/** A key and its formatted value, or `undefined` to omit the key. */
type Entry = readonly [key: string, text: string | undefined];

class Formatter {
    readonly #tag: string | undefined;

    /** `tag` is the key that marks references, which are formatted on one line. */
    constructor(tag: string | undefined) {
        this.#tag = tag;
    }

    /** Formats a value at an indentation level. */
    value(value: unknown, level: number): string {
        if (Array.isArray(value)) {
            const elements = value.map((element: unknown) => this.value(element ?? null, level + 1));
            return enclose("[", elements, "]", level);
        }
        if (typeof value !== "object" || value === null) {
            return JSON.stringify(value);
        }
        const members = Object.entries(value).filter(([, member]) => member !== undefined);
        if (this.#tag !== undefined && Object.hasOwn(value, this.#tag)) {
            // Do not sort the keys: the tag is first, as in the graph.
            const parts = members.map(([key, part]) => `${JSON.stringify(key)}: ${JSON.stringify(part)}`);
            return `{ ${parts.join(", ")} }`;
        }
        members.sort(([a], [b]) => compare(a, b));
        return braces(
            members.map(([key, member]) => [key, this.value(member, level + 1)]),
            level,
        );
    }
}

function braces(entries: readonly Entry[], level: number): string {
    const present = entries.filter(([, text]) => text !== undefined);
    const lines = present.map(([key, text]) => `${JSON.stringify(key)}: ${text}`);
    return enclose("{", lines, "}", level);
}

function enclose(open: string, lines: readonly string[], close: string, level: number): string {
    if (lines.length === 0) {
        return open + close;
    }
    const indent = "\n" + "  ".repeat(level);
    return `${open}${lines.map((line) => `${indent}  ${line}`).join(",")}${indent}${close}`;
}
