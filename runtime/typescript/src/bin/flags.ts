import { parseArgs } from "node:util";

import { nearest } from "../suggest.js";
import { Failure } from "./failure.js";

/** The parsed command line. */
export interface Flags {
    readonly help: boolean;
    readonly version: boolean;
    /** Whether to run the TypeScript compiler first. */
    readonly check: boolean;
    readonly environment: string | undefined;
    readonly package: string | undefined;
    readonly module: string | undefined;
    /** Whether to read the workspace as JSON from standard input instead of reading `Lumi.yaml`. */
    readonly workspaceStdin: boolean;
    /** The path of the output file, or `-` for standard output. */
    readonly out: string;
    /** The path of the program or the name of its module. */
    readonly program: string | undefined;
    /** The arguments of the program. */
    readonly arguments: readonly string[];
}

export const usage = `lumi-program runs a program and prints the graph of the resources that it constructs.

Usage: lumi-program [flags] [MODULE | PROGRAM] [ARGUMENT …] [-- ARGUMENT …]

MODULE is a module in the nearest Lumi.yaml, in the current folder or one of its parents. It can be omitted if there is
only one, unless the program has arguments other than those after --.
PROGRAM is a .js or .ts file. A .ts file needs tsx in your project (npm install --save-dev tsx); or compile it with tsc
and pass the .js file instead.
The program finds its arguments in process.argv. Put arguments that start with a dash after --.

Flags, anywhere before --:
  --check             run tsc first, and the program only if it passes; tsx does not check types
  --environment=NAME  the environment, such as prod
  --package=NAME      the program's package, such as my/cluster
  --module=NAME       the program's module in that package, for URNs (default index)
  --out=FILE          the output file (default -, which is standard output)
  --workspace-stdin   read the workspace as JSON from standard input, as written by lumi, instead of Lumi.yaml
  --help              print this help
  --version           print the version

Names without a flag come from the nearest Lumi.yaml, in the program's folder or one of its parents. A module's name is
its package:

  modules:
    network: network/main.ts
    cluster: cluster/main.ts
  environment: dev

The graph is LumiGL and deterministic. The program's own output goes to standard error. Secrets in the graph are in
plain text: a graph with secrets is not written to a terminal, and --out makes its file readable only by its owner.

Exit codes: 0 success; 1 the program is invalid; 2 usage or system error, or Ctrl-C.

Examples:
  lumi-program network > graph.json
  lumi-program --environment=prod main.ts > graph.json
`;

/** The flags that take a value, with the placeholder for the value in messages. */
const values = { environment: "NAME", package: "NAME", module: "NAME", out: "FILE" } as const;

const options = {
    environment: { type: "string" },
    package: { type: "string" },
    module: { type: "string" },
    out: { type: "string" },
    "workspace-stdin": { type: "boolean" },
    check: { type: "boolean" },
    help: { type: "boolean", short: "h" },
    version: { type: "boolean" },
} as const;

/**
 * Parses the command line. Flags are recognized anywhere before `--`, even after the program, since a flag passed to
 * the program by mistake would be silently ignored. Throws a `Failure` if the command line is invalid.
 */
export function parseFlags(args: readonly string[]): Flags {
    const { tokens } = parseArgs({
        args: [...args],
        options,
        strict: false, // to produce custom messages
        allowPositionals: true,
        tokens: true,
    });
    const found = new Map<string, string>();
    let program: string | undefined;
    const rest: string[] = [];
    let ended = false;
    for (const token of tokens) {
        if (token.kind === "option") {
            found.set(token.name, valueOf(token, program !== undefined));
        } else if (token.kind === "option-terminator") {
            ended = true;
        } else if (program === undefined && !ended) {
            program = token.value;
        } else {
            rest.push(token.value);
        }
    }
    return {
        help: found.has("help"),
        version: found.has("version"),
        environment: found.get("environment"),
        package: found.get("package"),
        module: found.get("module"),
        workspaceStdin: found.has("workspace-stdin"),
        check: found.has("check"),
        out: found.get("out") ?? "-",
        program,
        arguments: rest,
    };
}

/** A flag on the command line. */
interface Flag {
    readonly name: string;
    readonly rawName: string;
    readonly value: string | undefined;
    readonly inlineValue: boolean | undefined;
}

/** Returns the value of a flag, or an empty string if it takes none. Throws a `Failure` if the flag is invalid. */
function valueOf({ name, rawName, value, inlineValue }: Flag, afterProgram: boolean): string {
    if (!Object.hasOwn(options, name)) {
        throw new Failure(`unknown flag ${rawName}; ${adviceFor(name, afterProgram)}`);
    }
    if (!Object.hasOwn(values, name)) {
        if (inlineValue) {
            throw new Failure(`--${name} takes no value`);
        }
        return "";
    }
    // An argument that starts with "-" is a value only after an equals sign.
    if (!value || (!inlineValue && /^-./.test(value))) {
        throw new Failure(`--${name} takes a value: --${name}=${values[name as keyof typeof values]}`);
    }
    return value;
}

/** Returns advice for an unknown flag, for the error message. */
function adviceFor(name: string, afterProgram: boolean): string {
    const known = Object.keys(options);
    const near = known.find((flag) => flag.startsWith(name)) ?? nearest(name, known);
    if (afterProgram) {
        const ours = near === undefined ? "" : `did you mean --${near}? Otherwise `;
        return `${ours}put -- before arguments for the program`;
    }
    return near === undefined ? '"lumi-program --help" lists the flags' : `did you mean --${near}?`;
}
