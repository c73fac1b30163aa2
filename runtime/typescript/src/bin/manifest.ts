import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { CST, Composer, type Document, LineCounter, type ParsedNode, Parser, isAlias, isMap, isScalar } from "yaml";

import { nameProblem } from "../names.js";
import { didYouMean } from "../suggest.js";
import { Failure, messageOf } from "./failure.js";

/** What `Lumi.yaml` says about a program. */
export interface Manifest {
    /** Where it was found, or `undefined` if there is none. */
    readonly file?: string;
    readonly package?: string;
    readonly environment?: string;
}

/** The keys that are read. Other keys are for other tools. */
const keys = ["package", "environment"] as const;
type Key = (typeof keys)[number];
type Names = { [key in Key]?: string };

/** How large and how deep a manifest may be, so that none takes long or exhausts the stack. */
const mostBytes = 1 << 18;
const deepest = 100;

/** What to do about syntax errors, where the messages of the parser leave that open. */
const remedies: { readonly [code: string]: string } = {
    BAD_SCALAR_START: "; put the value in quotes",
    TAB_AS_INDENT: "; use spaces",
};

/** Messages of the parser that use the terms of its grammar, and what is said instead. */
const jargon = /implicit|compact|same column|node end|flow|collection/i;
const plainly = 'invalid YAML; align keys, put a space after each colon, close brackets, and quote values with ": "';

/** How many errors are shown. */
const mostErrors = 10;

/** Reads the nearest `Lumi.yaml`, in a folder or above. Throws a `Failure` if it cannot be read or is wrong. */
export function readManifest(folder: string): Manifest {
    const file = join(folder, "Lumi.yaml");
    let content: Buffer;
    try {
        content = readFileSync(file);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
            throw new Failure(`cannot read ${file}: ${messageOf(error)}`);
        }
        const parent = dirname(folder);
        return parent === folder ? {} : readManifest(parent);
    }
    return { file, ...parseManifest(content, file) };
}

/** Parses a manifest. Throws a `Failure` with all errors and their places. */
export function parseManifest(content: Uint8Array, file: string): Names {
    if (content.length > mostBytes) {
        throw new Failure(`${file}: larger than 256 KiB`);
    }
    let text: string;
    try {
        text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    } catch {
        throw new Failure(`${file}: not valid UTF-8`);
    }
    // In YAML, a carriage return alone ends a line, too, but not for the parser.
    return new Reader(text.replace(/\r(?!\n)/g, "\n"), file).read();
}

class Reader {
    readonly #text: string;
    readonly #file: string;
    readonly #lines = new LineCounter();
    /** The errors by their places. What else is wrong at the same place most likely follows from the first. */
    readonly #errors = new Map<number, string>();

    constructor(text: string, file: string) {
        this.#text = text;
        this.#file = file;
    }

    read(): Names {
        const document = this.#parse();
        const found = this.#errors.size === 0 ? this.#names(document) : {};
        if (this.#errors.size > 0) {
            throw new Failure(this.#report());
        }
        return found;
    }

    #error(offset: number, message: string): void {
        this.#errors.set(offset, this.#errors.get(offset) ?? message);
    }

    #report(): string {
        const sorted = [...this.#errors].sort(([a], [b]) => a - b);
        const lines = sorted.slice(0, mostErrors).map(([offset, message]) => {
            const { line, col } = this.#lines.linePos(offset);
            return `${this.#file}:${line}:${col}: ${message}`;
        });
        const more = sorted.length - lines.length;
        return [...lines, ...(more > 0 ? [`${this.#file}: ${more} more errors`] : [])].join("\n");
    }

    #parse(): Document.Parsed | undefined {
        const tokens = [...new Parser(this.#lines.addNewLine).parse(this.#text)];
        tokens.forEach((token) => token.type === "document" && this.#limitDepth(token));
        if (this.#errors.size > 0) {
            return undefined;
        }
        const [document, second] = new Composer({ uniqueKeys: false }).compose(tokens, true, this.#text.length);
        for (const { code, pos, message } of document!.errors) {
            const said = message.replace(/ \S+ token in YAML \S+:/, "") + (remedies[code] ?? "");
            this.#error(pos[0], jargon.test(said) ? plainly : said.charAt(0).toLowerCase() + said.slice(1));
            if (code === "UNEXPECTED_TOKEN") {
                break; // The parser skips the rest, and reports each of its tokens.
            }
        }
        if (second !== undefined) {
            this.#error(second.range[0], "a second document begins here; the file must have only one");
        }
        return document;
    }

    /** The parser has its own stack, but what composes its tokens uses that of Node. */
    #limitDepth(document: CST.Document): void {
        CST.visit(document, ({ start, key, value }, path) => {
            if (path.length <= deepest) {
                return undefined;
            }
            this.#error((start[0] ?? key ?? value)?.offset ?? 0, `nested deeper than ${deepest} levels`);
            return CST.visit.BREAK;
        });
    }

    #names(document: Document.Parsed | undefined): Names {
        const contents = document?.contents ?? null;
        if (contents === null || (isScalar(contents) && contents.value === null)) {
            return {};
        }
        if (!isMap(contents)) {
            this.#error(contents.range[0], `expected lines such as "package: my/cluster", found ${describe(contents)}`);
            return {};
        }
        const found = new Map<Key, string>();
        const lines = new Map<Key, number>();
        for (const { key: node, value } of contents.items) {
            const [offset] = node.range;
            const written = isScalar(node) ? node.value : undefined;
            const key = keys.find((key) => key === written);
            if (key === undefined) {
                const help = typeof written === "string" ? didYouMean(written, keys) : "";
                if (help !== "") {
                    this.#error(offset, `unknown key ${JSON.stringify(written)}${help}`);
                }
            } else if (lines.has(key)) {
                this.#error(offset, `${key} is already set on line ${lines.get(key)}; remove one of the two`);
            } else {
                lines.set(key, this.#lines.linePos(offset).line);
                const name = this.#name(document!, key, value, offset);
                if (name !== undefined) {
                    found.set(key, name);
                }
            }
        }
        return Object.fromEntries(found);
    }

    /** Returns a name, or reports why a value is not a valid one. The offset is that of the key. */
    #name(document: Document.Parsed, key: Key, node: ParsedNode | null, offset: number): string | undefined {
        const at = node?.range[0] ?? offset;
        const value = isAlias(node) ? node.resolve(document) : node;
        if (value === undefined) {
            this.#error(at, `undefined anchor; write ${key}: NAME`);
            return undefined;
        }
        const { value: name, tag, source } = isScalar(value) ? value : { value };
        if (name === null) {
            this.#error(at, `${key} has no value; write ${key}: NAME`);
            return undefined;
        }
        if (typeof name !== "string" || (tag !== undefined && tag !== "tag:yaml.org,2002:str")) {
            const quotable = source !== undefined && nameError(key, source) === undefined;
            const instead = quotable ? JSON.stringify(source) : "NAME";
            this.#error(at, `${key} must be a string, not ${describe(value)}; write ${key}: ${instead}`);
            return undefined;
        }
        const problem = nameError(key, name);
        if (problem !== undefined) {
            this.#error(at, problem);
        }
        return name;
    }
}

/** Says what is wrong with one of the names, or returns `undefined`. */
function nameError(key: Key, name: string): string | undefined {
    return nameProblem({ package: "p", environment: "e", [key]: name });
}

function describe(node: unknown): string {
    if (!isScalar(node)) {
        return isMap(node) ? "an object" : "a list";
    }
    const { value, tag } = node;
    return typeof value === "object" || (typeof value === "string" && tag?.startsWith("!"))
        ? `a value tagged ${tag}`
        : `a ${typeof value}`;
}
