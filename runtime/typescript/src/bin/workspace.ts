// A minimal parser of Lumi.yaml for use of lumi-program without lumi. It reads only the keys that name and locate
// programs. The Go package deploy/workspace parses the whole file, and lumi passes the result to lumi-program.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { LineCounter, type Pair, type ParsedNode, isAlias, isMap, isScalar, parseDocument } from "yaml";

import type { Position } from "../position.js";
import type { Setting } from "../recorder.js";
import { Failure, messageOf } from "./failure.js";

/** The configuration of a program and the positions of configured providers. lumi-program receives them from lumi. */
export interface Configuration {
    readonly config?: readonly Setting[] | undefined;
    readonly providers?: { readonly [pkg: string]: Position } | undefined;
}

/** The part of a workspace that lumi-program needs. Keys missing from `Lumi.yaml` are absent. */
export interface Workspace extends Configuration {
    /** The path of `Lumi.yaml`. */
    readonly file?: string;
    /** The package of programs that `modules` does not list. */
    readonly package?: string;
    /** The paths of programs by module. If `Lumi.yaml` has a single program, its module is the value of `package`. */
    readonly modules?: Readonly<Record<string, string>>;
    /** Modules with an object model instead of a program, by name. */
    readonly models?: Readonly<Record<string, unknown>>;
    /** The default environment. */
    readonly environment?: string;
    /** The names of all environments, if `Lumi.yaml` lists them. */
    readonly environments?: readonly string[];
}

/** Error messages by the code of the YAML parser, whose own messages use terms of the YAML grammar. */
const syntaxErrors: Readonly<Record<string, string>> = {
    DUPLICATE_KEY: "this key is already set; remove one of the two",
    MULTIPLE_DOCS: "unexpected second YAML document; the file must contain only one",
    TAB_AS_INDENT: "invalid YAML: this is a tab; use spaces",
};
const invalid = 'invalid YAML; align keys, put a space after each colon, close brackets, and quote values with ": "';

/**
 * Reads the `Lumi.yaml` in a folder or its nearest parent. Returns an empty workspace if there is none. Throws a
 * `Failure` with all errors if it is invalid.
 */
export function readWorkspace(folder: string): Workspace {
    const file = join(folder, "Lumi.yaml");
    let text: string;
    try {
        text = readFileSync(file, "utf8");
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
            throw new Failure(`cannot read ${file}: ${messageOf(error)}`);
        }
        const parent = dirname(folder);
        return parent === folder ? {} : readWorkspace(parent);
    }
    const reader = new Reader(text.replace(/\r(?!\n)/g, "\n")); // lumi accepts lone carriage returns, too
    const workspace = reader.read();
    if (reader.problems.length > 0) {
        throw new Failure(reader.problems.map((problem) => `${file}:${problem}`).join("\n"));
    }
    return { file, ...workspace };
}

/** An entry of an object: its path in messages, its key, the offset of the key, and its value. */
interface Entry {
    readonly path: string;
    readonly name: string;
    readonly at: number;
    readonly value: ParsedNode | null;
}

class Reader {
    /** The errors in file order, each with line and column. */
    readonly problems: string[] = [];
    readonly #text: string;
    readonly #lines = new LineCounter();

    constructor(text: string) {
        this.#text = text;
    }

    /** Parses the file and returns the workspace, which is valid only if there are no problems. */
    read(): Workspace {
        const { contents, errors } = parseDocument(this.#text, { lineCounter: this.#lines, prettyErrors: false });
        const [wrong] = errors; // Others are probably follow-on errors.
        if (wrong !== undefined) {
            this.#report(wrong.pos[0], syntaxErrors[wrong.code] ?? invalid);
            return {};
        }
        const kind = kindOf(contents);
        if (kind !== "an object" && kind !== "no value") {
            this.#report(contents!.range[0], `expected lines such as "package: my/cluster", got ${kind}`);
        }
        const found: { -readonly [key in keyof Workspace]: Workspace[key] } = {};
        const programs: [string, string][] = [];
        const models: [string, object][] = [];
        let program = "";
        for (const entry of entriesOf("", contents)) {
            switch (entry.name) {
                case "package":
                case "environment":
                    found[entry.name] = this.#string(entry, "NAME");
                    break;
                case "program":
                    program = this.#string(entry, "FILE");
                    break;
                case "modules":
                    for (const module of this.#object(entry, "{NAME: FILE}")) {
                        const program = entriesOf(module.path, module.value).find(({ name }) => name === "program");
                        if (isMap(module.value) && program === undefined) {
                            models.push([module.name, {}]);
                        } else {
                            programs.push([module.name, this.#string(program ?? module, "FILE")]);
                        }
                    }
                    break;
                case "environments":
                    found.environments = this.#object(entry, "{NAME: {}}").map(({ name }) => name);
            }
        }
        if (program !== "" && found.package !== undefined) {
            programs.push([found.package, program]);
        }
        found.modules = Object.fromEntries(programs);
        found.models = Object.fromEntries(models);
        return Object.fromEntries(Object.entries(found).filter(([, value]) => Object.keys(value ?? {}).length > 0));
    }

    /** Returns the string in an entry. If it is not a string, reports an error with the example and returns "". */
    #string(entry: Entry, example: string): string {
        const { value } = entry;
        return this.#is("a string", entry, example) && isScalar(value) ? String(value.value) : "";
    }

    /** Returns the entries of the object in an entry. If it is not an object, reports an error and returns []. */
    #object(entry: Entry, example: string): readonly Entry[] {
        return this.#is("an object", entry, example) ? entriesOf(entry.path, entry.value) : [];
    }

    #is(kind: string, { path, name, at, value }: Entry, example: string): boolean {
        const found = kindOf(value);
        if (found === "no value") {
            this.#report(at, `${path} has no value; write ${name}: ${example}`);
        } else if (found !== kind) {
            this.#report(value!.range[0], `${path} must be ${kind}, got ${found}; write ${name}: ${example}`);
        }
        return found === kind;
    }

    #report(offset: number, message: string): void {
        const { line, col } = this.#lines.linePos(offset);
        const column = Array.from(this.#text.slice(offset - col + 1, offset)).length + 1; // in characters
        this.problems.push(`${line}:${column}: ${message}`);
    }
}

/** Returns the entries of an object, or an empty array for other values. */
function entriesOf(path: string, object: ParsedNode | null): readonly Entry[] {
    const pairs = isMap(object) ? (object.items as Pair<ParsedNode, ParsedNode | null>[]) : [];
    return pairs.map(({ key, value }) => {
        const name = String(key);
        return { path: path === "" ? name : `${path}.${name}`, name, at: key.range[0], value };
    });
}

/** Describes a value for a message. */
function kindOf(node: ParsedNode | null): string {
    if (node === null || (isScalar(node) && node.value === null)) {
        return "no value";
    }
    if (isScalar(node)) {
        return `a ${typeof node.value}`;
    }
    return isAlias(node) ? "an alias" : isMap(node) ? "an object" : "a list";
}
