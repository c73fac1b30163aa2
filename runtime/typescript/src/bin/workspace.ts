// Lumi.yaml. The Go package deploy/workspace reads the same file; its testdata/cases.json is the test table of both.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import {
    CST, Composer, LineCounter, type Pair, type ParsedNode, Parser, type YAMLMap, isAlias, isMap, isScalar, isSeq,
} from "yaml";

import { didYouMean } from "../suggest.js";
import { Failure, messageOf } from "./failure.js";

/** What `Lumi.yaml` says. What it does not say is left out. */
export interface Workspace {
    /** The package of programs that are not those of modules. */
    readonly package?: string;
    /** The paths of programs by the names of their modules. A lone program is the module named by `package`. */
    readonly modules?: Readonly<Record<string, string>>;
    /** The object models of modules that have one in place of a program, by the names of the modules. */
    readonly models?: Readonly<Record<string, Model>>;
    /** The default environment. */
    readonly environment?: string;
    /** The environments that there are, if the file lists them. */
    readonly environments?: readonly string[];
    /** How the data keys of environments are wrapped, by environment, where the file says so. */
    readonly keys?: Readonly<Record<string, string>>;
    /** The paths of inventory files, by environment. */
    readonly inventories?: Readonly<Record<string, string>>;
    /** The paths of executables by the packages that they provide. */
    readonly plugins?: Readonly<Record<string, string>>;
    /** The types that provisioners handle, by the names of the provisioners. */
    readonly provisioners?: Readonly<Record<string, readonly string[]>>;
}

/** An object model in MuranoPL. */
export interface Model {
    readonly model: string;
    readonly classes: readonly string[];
    readonly schemas?: readonly string[];
}

type Mutable<T> = { -readonly [key in keyof T]: T[key] };

/** An error at a place in the file, or in the whole file if there is no line. Columns count characters from 1. */
export interface Mistake {
    readonly line?: number;
    readonly column?: number;
    readonly message: string;
}

/** The keys of the file, each with an example of its value. */
const keys = {
    package: "NAME",
    program: "FILE",
    modules: "{NAME: FILE}",
    environment: "NAME",
    environments: "{NAME: {}}",
    plugins: "{PACKAGE: FILE}",
    provisioners: "{NAME: [TYPE]}",
} as const;

const keyList = "the keys are package, program, modules, environment, environments, plugins and provisioners";
const unsupported = "anchors, aliases and tags are not supported; write the value itself";

/** What a string must look like. */
interface Form {
    readonly pattern: RegExp;
    readonly help: string;
    /** Whether messages leave out the value: in place of how a key is wrapped, somebody may write the secret itself. */
    readonly hidden?: boolean;
}

const packageForm: Form = {
    pattern: /^[a-z][a-z0-9_-]*(?:\/[a-z][a-z0-9_-]*)*$/,
    help:
        "must be made of words that start with a lower-case letter and have lower-case letters, digits, - and _, " +
        "joined by /",
};
const environmentForm: Form = {
    pattern: /^[^\s:\p{C}\ufffd]+$/u,
    help: "must be a word without colons and spaces",
};
const keyForm: Form = {
    pattern: /^(?:passphrase|age:age1[0-9a-z]+(?:, *age1[0-9a-z]+)*|exec:\P{C}*[^\p{Z}\p{C}]\P{C}*)$/u,
    help: "must be passphrase, age: and recipients such as age1ql3z, with commas between them, or exec: and a command",
    hidden: true,
};
const programForm: Form = {
    pattern: /^(?:(?!\.\.?\/)[^/\\\p{C}]+\/)*[^/\\\p{C}]+\.[cm]?[jt]s$/u,
    help: "must be the path of a .ts or .js file below this folder, with forward slashes",
};
const executableForm: Form = { pattern: /^\P{C}+$/u, help: "must be the path of an executable file" };
const pathForm: Form = { pattern: executableForm.pattern, help: "must be a path without control characters" };
const provisionerForm: Form = {
    pattern: /^[a-z][a-z0-9_-]*$/,
    help: "must start with a lower-case letter and have lower-case letters, digits, - and _",
};
const typeForm: Form = {
    pattern: /^[a-z][a-z0-9_-]*(?:\/[a-z][a-z0-9_-]*)*:[^:/\\\s\p{C}]+(?:\/[^:/\\\s\p{C}]+)*:(?:\*|[\p{L}_][\p{L}\p{Nd}_]*)$/u,
    help: "must be a type such as aws:rds:Instance, or aws:rds:* for all types of a module",
};

/** How large and how deep a file may be, so that none takes long or exhausts the stack. */
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

/**
 * Reads the nearest `Lumi.yaml`, in a folder or above, and returns it with its path. Throws a `Failure` with all errors
 * if it is wrong, or if it cannot be read.
 */
export function readWorkspace(folder: string): Workspace & { readonly file?: string } {
    const file = join(folder, "Lumi.yaml");
    let content: Buffer;
    try {
        content = readFileSync(file);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
            throw new Failure(`cannot read ${file}: ${messageOf(error)}`);
        }
        const parent = dirname(folder);
        return parent === folder ? {} : readWorkspace(parent);
    }
    const { workspace, problems } = parseWorkspace(content);
    if (problems.length > 0) {
        throw new Failure(report(file, problems));
    }
    return { file, ...workspace };
}

/** Returns a line for each error, up to ten. */
export function report(file: string, problems: readonly Mistake[]): string {
    const lines = problems.slice(0, mostErrors).map(({ line, column, message }) =>
        line === undefined ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`,
    );
    const more = problems.length - lines.length;
    return [...lines, ...(more > 0 ? [`${file}: ${more} more error${more > 1 ? "s" : ""}`] : [])].join("\n");
}

/** Parses the content of a `Lumi.yaml`. The workspace counts only if there are no errors. */
export function parseWorkspace(content: Uint8Array): { workspace: Workspace; problems: readonly Mistake[] } {
    if (content.length > mostBytes) {
        return { workspace: {}, problems: [{ message: "larger than 256 KiB" }] };
    }
    let text: string;
    try {
        text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    } catch {
        return { workspace: {}, problems: [{ message: "not valid UTF-8" }] };
    }
    // In YAML, a carriage return alone ends a line, too, but not for the parser.
    const reader = new Reader(text.replace(/\r(?!\n)/g, "\n"));
    const workspace = reader.read();
    return { workspace, problems: reader.problems() };
}

/** An entry of the file: its path for messages, its own name, where its key is, and its value. */
interface Property {
    readonly path: string;
    readonly name: string;
    readonly at: number;
    readonly value: ParsedNode | null;
}

class Reader {
    readonly #text: string;
    readonly #lines = new LineCounter();
    /** The errors by their places. What else is wrong at the same place most likely follows from the first. */
    readonly #errors = new Map<number, string>();

    constructor(text: string) {
        this.#text = text;
    }

    read(): Workspace {
        const root = this.#parse();
        return this.#errors.size === 0 && root !== null ? this.#root(root) : {};
    }

    /** Returns the errors in the order of the file. */
    problems(): readonly Mistake[] {
        const sorted = [...this.#errors].sort(([a], [b]) => a - b);
        return sorted.map(([offset, message]) => ({ ...this.#place(offset), message }));
    }

    #place(offset: number): { line: number; column: number } {
        const { line, col } = this.#lines.linePos(offset);
        return { line, column: Array.from(this.#text.slice(offset - col + 1, offset)).length + 1 };
    }

    #error(offset: number, message: string): void {
        this.#errors.set(offset, this.#errors.get(offset) ?? message);
    }

    #parse(): ParsedNode | null {
        const tokens = [...new Parser(this.#lines.addNewLine).parse(this.#text)];
        tokens.forEach((token) => token.type === "document" && this.#limitDepth(token));
        if (this.#errors.size > 0) {
            return null;
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
        return document!.contents;
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

    #root(root: ParsedNode): Workspace {
        const kind = kindOf(root);
        if (kind === "no value") {
            return {};
        }
        if (!isMap(root) || kind !== "an object") {
            this.#error(root.range[0], `expected lines such as "package: my/cluster", found ${kind ?? "a tag"}`);
            return {};
        }
        const found: Mutable<Workspace> = {};
        const places = new Map<string, number>();
        let program: string | undefined;
        let environmentAt = 0;
        this.#entries("", root, (property) => {
            const { name, at, value } = property;
            places.set(name, at);
            switch (name) {
                case "package":
                    set(found, name, this.#string(property, keys[name], packageForm, name));
                    break;
                case "program":
                    program = this.#string(property, keys[name], programForm, name);
                    break;
                case "modules":
                    this.#modules(property, found);
                    break;
                case "environment":
                    environmentAt = value?.range[0] ?? at;
                    set(found, name, this.#string(property, keys[name], environmentForm, name));
                    break;
                case "environments":
                    this.#environments(property, found);
                    break;
                case "plugins":
                    set(found, name, this.#plugins(property));
                    break;
                case "provisioners":
                    set(found, name, this.#provisioners(property));
                    break;
                default: {
                    const help = didYouMean(name, Object.keys(keys)) || `; ${keyList}`;
                    this.#error(at, `unknown key ${JSON.stringify(name)}${help}`);
                }
            }
        });
        const [pkg, programAt] = [places.get("package"), places.get("program")];
        if (places.has("modules")) {
            const remedy = "is not for a file with modules";
            if (pkg !== undefined) {
                this.#error(pkg, `package ${remedy}, whose names are the keys of modules; remove it`);
            }
            if (programAt !== undefined) {
                this.#error(programAt, `program ${remedy}; move it into modules`);
            }
        } else if (programAt !== undefined && pkg === undefined) {
            this.#error(programAt, "program needs package, which names its module; write package: NAME");
        }
        const { environment, environments = [] } = found;
        if (environment !== undefined && places.has("environments") && !environments.includes(environment)) {
            const help = didYouMean(environment, environments);
            this.#error(environmentAt, `environment ${JSON.stringify(environment)} is not one of environments${help}`);
        }
        if (program !== undefined && found.package !== undefined) {
            found.modules = { [found.package]: program };
        }
        return found;
    }

    /** Calls a function for each entry of an object whose key is a string that occurs first. */
    #entries(path: string, { items }: YAMLMap, visit: (property: Property) => void): void {
        const lines = new Map<string, number>();
        for (const { key, value } of items as Pair<ParsedNode, ParsedNode | null>[]) {
            const [at] = key.range;
            const kind = kindOf(key);
            if (kind === undefined) {
                this.#error(at, unsupported);
            } else if (kind !== "a string" || !isScalar(key)) {
                const help = isScalar(key) && key.source ? `; write ${JSON.stringify(key.source)}` : "";
                this.#error(at, `a key must be a string, not ${kind}${help}`);
            } else {
                const name = String(key.value);
                const inFile = path === "" ? name : `${path}.${name}`;
                const line = lines.get(name);
                if (line !== undefined) {
                    this.#error(at, `${inFile} is already set on line ${line}; remove one of the two`);
                } else {
                    lines.set(name, this.#lines.linePos(at).line);
                    visit({ path: inFile, name, at, value });
                }
            }
        }
    }

    /** Reports whether a value is of a kind. If not, an error says what to write. */
    #is({ path, name, at, value }: Property, kind: string, example: string): boolean {
        const found = kindOf(value);
        if (found === undefined) {
            this.#error(at, unsupported);
        } else if (found === "no value") {
            this.#error(at, `${path} has no value; write ${name}: ${example}`);
        } else if (found !== kind) {
            this.#error(value!.range[0], `${path} must be ${kind}, not ${found}; write ${name}: ${example}`);
        }
        return found === kind;
    }

    /** Returns the string that is a property's value. Messages call it `what`. */
    #string(property: Property, example: string, form: Form, what: string): string | undefined {
        const { value } = property;
        const source = isScalar(value) && value.value !== null ? (value.source ?? "") : "";
        const quoted = form.pattern.test(source) ? JSON.stringify(source) : example;
        if (!this.#is(property, "a string", quoted) || !isScalar(value)) {
            return undefined;
        }
        this.#check(value.range![0], String(value.value), what, form);
        return String(value.value);
    }

    #check(at: number, text: string, what: string, { pattern, help, hidden }: Form): boolean {
        if (!pattern.test(text)) {
            this.#error(at, `${what} ${hidden ? "" : `${JSON.stringify(text)}: `}${help}`);
            return false;
        }
        return true;
    }

    /** Calls a function for each entry of a property whose key has a form. */
    #object(property: Property, what: string, names: Form, visit: (property: Property) => void): void {
        const { path, name, value } = property;
        if (this.#is(property, "an object", keys[name as keyof typeof keys]) && isMap(value)) {
            this.#entries(path, value, (entry) => {
                if (this.#check(entry.at, entry.name, what, names)) {
                    visit(entry);
                }
            });
        }
    }

    #plugins(property: Property): Record<string, string> {
        const found: [string, string][] = [];
        this.#object(property, "plugin", packageForm, (entry) => {
            found.push([entry.name, this.#string(entry, "FILE", executableForm, "plugin") ?? ""]);
        });
        return Object.fromEntries(found);
    }

    /** Sets the programs and the object models of modules. */
    #modules(property: Property, workspace: Mutable<Workspace>): void {
        const programs: [string, string][] = [];
        const models: [string, Model][] = [];
        this.#object(property, "module", packageForm, (entry) => {
            if (isMap(entry.value) && kindOf(entry.value) === "an object") {
                models.push([entry.name, this.#model(entry, entry.value)]);
            } else {
                programs.push([entry.name, this.#string(entry, "FILE", programForm, "program") ?? ""]);
            }
        });
        set(workspace, "modules", Object.fromEntries(programs));
        set(workspace, "models", Object.fromEntries(models));
    }

    #model(module: Property, value: YAMLMap): Model {
        const names = { model: "FILE", classes: "FOLDER", schemas: "FILE" };
        const found: { model?: string; classes?: readonly string[]; schemas?: readonly string[] } = {};
        this.#entries(module.path, value, (entry) => {
            const { name, at } = entry;
            switch (name) {
                case "model":
                    found.model = this.#string(entry, "FILE", pathForm, name) ?? "";
                    break;
                case "classes":
                case "schemas":
                    found[name] = this.#paths(entry);
                    break;
                default: {
                    const help = didYouMean(name, Object.keys(names));
                    const all = "; the keys of an object model are model, classes and schemas";
                    this.#error(at, `unknown key ${JSON.stringify(name)}${help || all}`);
                }
            }
        });
        for (const name of ["model", "classes"] as const) {
            if (found[name] === undefined) {
                this.#error(module.at, `${module.path} has no ${name}; write ${name}: ${names[name]}`);
            }
        }
        return { model: "", classes: [], ...found };
    }

    /** Returns the paths that are the value of a property: one, or a list. */
    #paths(property: Property): readonly string[] {
        if (kindOf(property.value) === "a string") {
            return [this.#string(property, "PATH", pathForm, "path") ?? ""];
        }
        return this.#list(property, "[PATH]", "path", pathForm) ?? [];
    }

    /** Sets the names of environments, and the settings of those that have any. */
    #environments(property: Property, workspace: Mutable<Workspace>): void {
        const names: string[] = [];
        const keys: [string, string][] = [];
        const inventories: [string, string][] = [];
        this.#object(property, "environment", environmentForm, (entry) => {
            const { path, name: environment, value } = entry;
            names.push(environment);
            if (kindOf(value) !== "no value" && this.#is(entry, "an object", "{}") && isMap(value)) {
                this.#entries(path, value, (setting) => {
                    const { path, name, at } = setting;
                    if (name === "key") {
                        keys.push([environment, this.#string(setting, "passphrase", keyForm, path) ?? ""]);
                    } else if (name === "inventory") {
                        inventories.push([environment, this.#string(setting, "FILE", pathForm, path) ?? ""]);
                    } else {
                        const help = 'the settings of an environment are "key" and "inventory"';
                        this.#error(at, `unknown key ${JSON.stringify(name)}; ${help}`);
                    }
                });
            }
        });
        set(workspace, "environments", names);
        set(workspace, "keys", Object.fromEntries(keys));
        set(workspace, "inventories", Object.fromEntries(inventories));
    }

    #provisioners(property: Property): Record<string, readonly string[]> {
        const found: [string, readonly string[]][] = [];
        this.#object(property, "provisioner", provisionerForm, (entry) => {
            const types = this.#list(entry, "[TYPE]", "type", typeForm);
            if (types !== undefined) {
                found.push([entry.name, types]);
            }
        });
        return Object.fromEntries(found);
    }

    /** Returns a list of strings. Messages call the strings `what`. */
    #list(property: Property, example: string, what: string, form: Form): readonly string[] | undefined {
        const { path, value } = property;
        if (!this.#is(property, "a list", example) || !isSeq(value)) {
            return undefined;
        }
        const all: string[] = [];
        for (const [i, element] of (value.items as ParsedNode[]).entries()) {
            const kind = kindOf(element);
            const [at] = element.range;
            if (kind === "a string" && isScalar(element)) {
                all.push(String(element.value));
                this.#check(at, String(element.value), what, form);
            } else {
                const wrong = `${path}[${i}] must be a string, not ${kind}`;
                this.#error(at, kind === undefined ? unsupported : wrong);
            }
        }
        return all;
    }
}

/** Sets a property unless its value is missing or empty. */
function set<K extends keyof Workspace>(workspace: Mutable<Workspace>, key: K, value: Workspace[K] | undefined): void {
    if (value !== undefined && Object.keys(value).length > 0) {
        workspace[key] = value;
    }
}

/** Says in words what a node is. Returns `undefined` for one with an anchor, an alias or a tag. */
function kindOf(node: ParsedNode | null): string | undefined {
    if (node === null) {
        return "no value";
    }
    if (isAlias(node) || node.anchor !== undefined || node.tag !== undefined) {
        return undefined;
    }
    if (!isScalar(node)) {
        return isMap(node) ? "an object" : "a list";
    }
    return node.value === null ? "no value" : `a ${typeof node.value}`;
}
