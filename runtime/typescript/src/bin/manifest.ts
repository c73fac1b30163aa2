import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { Failure, messageOf } from "./failure.js";

/** What `Lumi.yaml` says about a program. */
export interface Manifest {
    /** Where it was found, or `undefined` if there is none. */
    readonly file?: string;
    readonly package?: string;
    readonly environment?: string;
}

/** Reads the nearest `Lumi.yaml`, in a folder or above. Throws a `Failure` if it cannot be read or is wrong. */
export function readManifest(folder: string): Manifest {
    const file = join(folder, "Lumi.yaml");
    let text: string;
    try {
        text = readFileSync(file, "utf8");
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
            throw new Failure(messageOf(error));
        }
        const parent = dirname(folder);
        return parent === folder ? {} : readManifest(parent);
    }
    return { file, ...parseManifest(text, file) };
}

/** A line such as `package: my/cluster`, with the key and the value in groups. */
const entry =
    /^(?:"(?<double>[^"\\]*)"|'(?<single>[^']*)'|(?<plain>[^\s"'#&*!|>%@`{}[\],?:-][^\s:#]*))\s*:(?:\s+(?<value>.*))?$/;
const quoted = /^(?:"([^"\\]*)"|'([^']*)')[ \t]*(?:#.*)?$/;
const plain = /^([A-Za-z0-9_][^\s:#"'{}[\],&*!|>%@`]*)[ \t]*(?:[ \t]#.*)?$/;
/** What YAML takes for something else than a string. */
const noString = /^(?:true|false|null|[0-9][0-9._]*|0[xo][0-9a-f]+)$/i;

/**
 * Reads the two keys of a manifest. This is no parser of YAML: it reads files whose outermost level is a block of
 * `key: value` lines, passes over whatever stands at other keys, and refuses what it could misunderstand.
 */
export function parseManifest(text: string, file: string): Omit<Manifest, "file"> {
    const found = new Map<string, string>();
    const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
    for (const [i, line] of lines.entries()) {
        // Indented lines, and the items of lists, belong to a key above.
        if (/^\s*(?:#|$)|^[ \t]|^- |^-$/.test(line) || (i === 0 && /^---[ \t]*$/.test(line))) {
            continue;
        }
        const groups = entry.exec(line)?.groups;
        if (groups === undefined) {
            throw new Failure(`${file}:${i + 1}: expected a line such as "package: my/cluster"`);
        }
        const key = groups["double"] ?? groups["single"] ?? groups["plain"]!;
        if (key !== "package" && key !== "environment") {
            continue;
        }
        if (found.has(key)) {
            throw new Failure(`${file}:${i + 1}: ${key} stands there twice`);
        }
        const value = scalar(groups["value"] ?? "");
        if (value === undefined || /^\s+[^#\s]/.test(lines[i + 1] ?? "")) {
            throw new Failure(`${file}:${i + 1}: the value of ${key} must be a name, on the same line: "${key}: NAME"`);
        }
        found.set(key, value);
    }
    return Object.fromEntries(found);
}

/** Reads a string as YAML writes it in one line, or returns `undefined`. */
function scalar(value: string): string | undefined {
    const match = quoted.exec(value);
    if (match !== null) {
        return match[1] ?? match[2];
    }
    const word = plain.exec(value)?.[1];
    return word === undefined || noString.test(word) ? undefined : word;
}
